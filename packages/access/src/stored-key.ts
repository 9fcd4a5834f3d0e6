import { isKeyId } from './key-text.ts'
import { isScope, type Scope } from './scope.ts'

/** Describes a key as the file and the server have it. Neither stores the secret itself. */
export interface StoredKey {
  readonly id: string
  readonly name: string
  /** This is the SHA-256 of the secret. */
  readonly digest: Buffer
  readonly scopes: readonly Scope[]
  /** This is in epoch milliseconds. */
  readonly createdAt: number
  /** This is in epoch milliseconds, or null if the key does not expire. */
  readonly expiresAt: number | null
}

export const KEY_NAME_RULE = 'must be 1–64 characters of A-Z a-z 0-9 . _ -'

const NAME = /^[A-Za-z0-9._-]{1,64}$/
const DIGEST = /^[0-9a-f]{64}$/

export function isKeyName(value: unknown): value is string {
  return typeof value === 'string' && NAME.test(value)
}

export function isActive({ expiresAt }: StoredKey, nowMs: number): boolean {
  return expiresAt === null || nowMs < expiresAt
}

export function writeStoredKey({ digest, ...key }: StoredKey): object {
  return { ...key, secretSha256: digest.toString('hex') }
}

/** Reads a key from the file. Returns undefined if the value is not a key. */
export function readStoredKey(value: unknown): StoredKey | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { id, name, secretSha256, scopes, createdAt, expiresAt } = value as Readonly<Record<string, unknown>>
  if (!isKeyId(id) || !isKeyName(name)) return undefined
  if (typeof secretSha256 !== 'string' || !DIGEST.test(secretSha256)) return undefined
  if (!Array.isArray(scopes) || scopes.length === 0 || !scopes.every(isScope)) return undefined
  if (!isInstant(createdAt) || (expiresAt !== null && !isInstant(expiresAt))) return undefined
  return { id, name, digest: Buffer.from(secretSha256, 'hex'), scopes, createdAt, expiresAt }
}

function isInstant(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0
}
