import { toKeysUnusableError } from './errors.ts'
import { readStoredKey, type StoredKey, writeStoredKey } from './stored-key.ts'

export const KEYS_MAX = 1_000
const VERSION = 1

/** Reads the keys from the text of a file. Throws SAGA_KEYS_UNUSABLE, whose text never quotes the file. */
export function readKeyFileText(text: string): ReadonlyMap<string, StoredKey> {
  const list = findList(parseJson(text))
  if (list === undefined) throw toKeysUnusableError('the file of keys is not one of this version')
  if (list.length > KEYS_MAX) throw toKeysUnusableError(`the file of keys has more than ${KEYS_MAX}`)
  const keys = new Map<string, StoredKey>()
  for (const [position, value] of list.entries()) {
    const key = readStoredKey(value)
    if (key === undefined) throw toKeysUnusableError(`key ${position} of the file of keys is not valid`)
    if (keys.has(key.id)) throw toKeysUnusableError(`two keys of the file of keys have the id ${key.id}`)
    keys.set(key.id, key)
  }
  return keys
}

export function writeKeyFileText(keys: Iterable<StoredKey>): string {
  return `${JSON.stringify({ version: VERSION, keys: Array.from(keys, writeStoredKey) }, null, 2)}\n`
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The parser's text and cause are left out, since they quote the file.
    throw toKeysUnusableError('the file of keys is not JSON')
  }
}

function findList(value: unknown): readonly unknown[] | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  if (!('version' in value) || value.version !== VERSION || !('keys' in value)) return undefined
  return Array.isArray(value.keys) ? value.keys : undefined
}
