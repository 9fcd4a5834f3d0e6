const BYTES = 16
/** Web Crypto takes as long for a few bytes as for a few thousand. */
const GIDS_PER_DRAW = 256
const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

let drawn = new Uint8Array(0)
let used = 0

/**
 * A fresh gid: a UUID of version 7 (RFC 9562), so that gids made later sort later.
 *
 * @example
 * ```ts
 * const gid = newGid() // '019ab3c5-5a7e-7c31-9e0f-3b6a2f1d8c44'
 * ```
 */
export function newGid(): string {
  if (used === drawn.length) {
    drawn = crypto.getRandomValues(new Uint8Array(BYTES * GIDS_PER_DRAW))
    used = 0
  }
  const start = used
  used += BYTES
  const view = new DataView(drawn.buffer, start, BYTES)
  const now = Date.now()
  view.setUint16(0, Math.floor(now / 2 ** 32))
  view.setUint32(2, now % 2 ** 32)
  view.setUint8(6, 0x70 | (view.getUint8(6) & 0x0f))
  view.setUint8(8, 0x80 | (view.getUint8(8) & 0x3f))
  let hex = ''
  for (let byte = 0; byte < BYTES; byte++) hex += HEX[view.getUint8(byte)] ?? ''
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}
