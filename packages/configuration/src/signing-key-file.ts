import type { Parsed } from '@counterstep/branch-http/targets'
import { parseSigningKey, type SigningKey } from '@counterstep/signature'
import { readSecretFile } from './secret-file.ts'

const KEY_FILE = {
  bytesMax: 16 * 1024,
  what: 'key',
  risk: 'whoever has it signs as this server; chmod 600 it, or make a new key',
}

/** Reads the key in a file that only its owner may change, and only its owner and group may read (S18). */
export function readSigningKeyFile(path: string): Parsed<SigningKey> {
  const file = readSecretFile(path, KEY_FILE)
  if ('problem' in file) return file
  try {
    return { value: parseSigningKey(file.value) }
  } catch (error: unknown) {
    if (!(error instanceof TypeError)) throw error
    return { problem: `names a file without a key: ${error.message}` }
  }
}

/** Returns the path for a setting if it leads to a usable key, and a problem otherwise. */
export function checkSigningKeyPath(path: string): Parsed<string> {
  const key = readSigningKeyFile(path)
  return 'problem' in key ? key : { value: path }
}
