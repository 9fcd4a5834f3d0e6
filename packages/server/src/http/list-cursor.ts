import type { ListCursor } from '@counterstep/core'
import { isGid } from '@counterstep/protocol'

export function writeCursor({ at, gid }: ListCursor): string {
  return Buffer.from(`${at}.${gid}`).toString('base64url')
}

export function readCursor(text: string): ListCursor | undefined {
  const decoded = Buffer.from(text, 'base64url').toString('latin1')
  const point = decoded.indexOf('.')
  const at = Number(decoded.slice(0, point))
  const gid = decoded.slice(point + 1)
  if (point < 1 || !Number.isSafeInteger(at) || at < 0 || !isGid(gid)) return undefined
  // Only a text that we would have written is accepted: no blanks, signs, leading zeros or other characters.
  return writeCursor({ at, gid }) === text ? { at, gid } : undefined
}
