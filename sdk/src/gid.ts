import { createTimeOrderedGid } from '@counterstep/protocol'

/** Web Crypto takes as long for a few bytes as for a few thousand. */
const POOL_BYTES = 4_096
/** One gid needs fewer random digits than this. */
const DIGITS = 32

let pool = ''
let next = 0

/**
 * Makes a fresh gid: a UUID of version 7 (RFC 9562), so that gids made later sort later.
 *
 * @example
 * ```ts
 * const gid = newGid() // '019ab3c5-5a7e-7c31-9e0f-3b6a2f1d8c44'
 * ```
 */
export function newGid(): string {
  if (next === pool.length) {
    const bytes = crypto.getRandomValues(new Uint8Array(POOL_BYTES))
    pool = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
    next = 0
  }
  next += DIGITS
  return createTimeOrderedGid(Date.now(), pool.slice(next - DIGITS, next))
}
