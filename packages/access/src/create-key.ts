import { changeKeyFile } from './change-key-file.ts'
import { digestSecret } from './digest-secret.ts'
import { toKeysUnusableError } from './errors.ts'
import { KEYS_MAX } from './key-file-text.ts'
import { drawKeyParts, writeKey } from './key-text.ts'
import type { Scope } from './scope.ts'
import { isActive, type StoredKey } from './stored-key.ts'

/** A name may have two active keys, the old and the new one, while the services that use it change over. */
export const ACTIVE_KEYS_PER_NAME_MAX = 2

export interface NewKey {
  readonly name: string
  readonly scopes: readonly Scope[]
  readonly createdAt: number
  readonly expiresAt: number | null
}

export interface CreatedKey {
  /** Only the caller receives this text, and only once: the file stores a digest of its secret. */
  readonly key: string
  readonly stored: StoredKey
}

/** Adds a new key to the file. Throws SAGA_KEYS_UNUSABLE if the name or the file has too many, or cannot be changed. */
export async function createKey(path: string, newKey: NewKey): Promise<CreatedKey> {
  const parts = drawKeyParts()
  const stored = { id: parts.id, ...newKey, digest: digestSecret(parts.secret) }
  await changeKeyFile(path, (keys) => {
    const active = [...keys.values()].filter(
      (key) => key.name === newKey.name && isActive(key, newKey.createdAt),
    )
    if (active.length >= ACTIVE_KEYS_PER_NAME_MAX) {
      const ids = active.map(({ id }) => id).join(' and ')
      throw toKeysUnusableError(`${newKey.name} has ${active.length} active keys, ${ids}: revoke one first`)
    }
    if (keys.size >= KEYS_MAX)
      throw toKeysUnusableError(`the file of keys is full (${KEYS_MAX}): revoke some`)
    return [...keys.values(), stored]
  })
  return { key: writeKey(parts), stored }
}
