import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs'
import type { Parsed } from '@counterstep/branch-http/targets'
import { parseSigningKey, type SigningKey } from '@counterstep/signature'

const FILE_BYTES_MAX = 16 * 1024
/**
 * Others have no right to the file. The group may only read it, because a secret that Kubernetes mounts belongs to root
 * and the server reads it through its group.
 */
const MODE_DENIED = 0o027
// Windows has no such bits, and Node makes them up there.
const HAS_MODES = process.platform !== 'win32'

/** Reads the key in a file that only its owner may change, and only its owner and group may read (S18). */
export function readSigningKeyFile(path: string): Parsed<SigningKey> {
  let descriptor: number | undefined
  try {
    // The file is opened without blocking, because a named pipe would make the process wait for its writer.
    descriptor = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
    const problem = findFileProblem(descriptor)
    if (problem !== undefined) return { problem }
    return { value: parseSigningKey(readFileSync(descriptor, 'utf8')) }
  } catch (error: unknown) {
    if (error instanceof TypeError && !('code' in error))
      return { problem: `names a file without a key: ${error.message}` }
    if (!(error instanceof Error) || !('code' in error)) throw error
    return { problem: `names a file that cannot be read (${String(error.code)})` }
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}

/** Checks the open file and not its name, so that the checked file is the one that is read. */
function findFileProblem(descriptor: number): string | undefined {
  const stats = fstatSync(descriptor)
  if (!stats.isFile()) return 'names what is no file'
  if (stats.size > FILE_BYTES_MAX) return `names a file over ${FILE_BYTES_MAX} bytes, which is no key`
  if (HAS_MODES && (stats.mode & MODE_DENIED) !== 0) {
    const mode = (stats.mode & 0o777).toString(8).padStart(4, '0')
    return `names a file that others may use or its group may change (mode ${mode}): whoever has it signs as this server; chmod 600 it, or make a new key`
  }
  return undefined
}

/** Returns the path for a setting if it leads to a usable key, and a problem otherwise. */
export function checkSigningKeyPath(path: string): Parsed<string> {
  const key = readSigningKeyFile(path)
  return 'problem' in key ? key : { value: path }
}
