import { timingSafeEqual } from 'node:crypto'
import { digestSecret } from './digest-secret.ts'
import type { KeyFinder } from './key-ring.ts'
import { readKey } from './key-text.ts'
import { isActive, type StoredKey } from './stored-key.ts'

/**
 * No secret has this digest. A key with an unknown id is compared with it, so that the time taken does not tell an
 * unknown id from a wrong secret.
 */
const NO_DIGEST = Buffer.alloc(32)

/** Finds the stored key for this text. Returns undefined if the key is unknown, expired or wrong. */
export function checkKey(keys: KeyFinder, text: string, nowMs: number): StoredKey | undefined {
  const parts = readKey(text)
  if (parts === undefined) return undefined
  const stored = keys.find(parts.id)
  const isSecret = timingSafeEqual(digestSecret(parts.secret), stored?.digest ?? NO_DIGEST)
  return stored !== undefined && isSecret && isActive(stored, nowMs) ? stored : undefined
}
