import { isKeyId } from '../key-text.ts'
import type { CookiePlace } from './session-cookie.ts'

/** A session ends after this time, whatever it was used for. */
export const SESSION_MS = 12 * 3_600_000
/** A session ends when it has not been used for this long. */
export const SESSION_IDLE_MS = 3_600_000
/** So many sessions may be open. Beyond it the idlest one of the key that has the most gives way. */
export const SESSIONS_MAX = 1_000
/** So many of them may be of one key, so that one key does not end the sessions of the others. */
export const SESSIONS_PER_KEY_MAX = 100

const PERSON = /^[^\p{C}\p{Zl}\p{Zp}]{1,64}$/u
export const PERSON_RULE = 'must be 1–64 visible characters'

/** Holds what the store keeps of a session, under the hash of its halves. */
export interface SessionRecord {
  readonly keyId: string
  /** The name that the person gave at the login. It is not proven. */
  readonly person?: string
  readonly place: CookiePlace
  /** This is in epoch milliseconds, as `usedAt` is. */
  readonly endsAt: number
  readonly usedAt: number
}

export function isPerson(value: unknown): value is string {
  return typeof value === 'string' && PERSON.test(value) && value.trim() !== ''
}

export function isOver({ endsAt, usedAt }: SessionRecord, nowMs: number): boolean {
  return nowMs >= endsAt || nowMs >= usedAt + SESSION_IDLE_MS
}

export function writeSession(record: SessionRecord): string {
  return JSON.stringify(record)
}

/** Reads a session as the store has it. Returns undefined if the text is none. */
export function readSession(text: string): SessionRecord | undefined {
  const value = parse(text)
  if (typeof value !== 'object' || value === null) return undefined
  const { keyId, person, place, endsAt, usedAt } = value as Readonly<Record<string, unknown>>
  if (!isKeyId(keyId) || !isPlace(place) || !isInstant(endsAt) || !isInstant(usedAt)) return undefined
  if (person !== undefined && !isPerson(person)) return undefined
  return { keyId, place, endsAt, usedAt, ...(person === undefined ? {} : { person }) }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // A text that is no JSON is no session.
    return undefined
  }
}

function isPlace(value: unknown): value is CookiePlace {
  if (typeof value !== 'object' || value === null) return false
  const { isSecure, path } = value as Readonly<Record<string, unknown>>
  return typeof isSecure === 'boolean' && typeof path === 'string'
}

function isInstant(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0
}
