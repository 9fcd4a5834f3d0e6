import { hash, randomBytes } from 'node:crypto'

const HALF_BYTES = 32
/** This is base64url of 32 random bytes. */
const HALF = /^[A-Za-z0-9_-]{43}$/

/**
 * A session is proven by two secrets. A browser sends a cookie to every port of its host, so another program there may
 * get it. It keeps the storage of a page apart by the port, but each script of the page can read that. So neither is
 * enough without the other.
 */
export interface SessionHalves {
  /** The browser keeps it from all scripts, and sends it by itself. */
  readonly cookie: string
  /** The page keeps it, and sends it in the header of the console. */
  readonly header: string
}

export function createHalves(): SessionHalves {
  return { cookie: createHalf(), header: createHalf() }
}

export function isHalf(value: unknown): value is string {
  return typeof value === 'string' && HALF.test(value)
}

/**
 * Hashes both halves together. The store and the nodes find a session by this hash alone, so that one half is compared
 * with nothing, and the time of an answer tells nothing of the other.
 */
export function hashHalves({ cookie, header }: SessionHalves): string {
  return hash('sha256', `${cookie}.${header}`)
}

function createHalf(): string {
  return randomBytes(HALF_BYTES).toString('base64url')
}
