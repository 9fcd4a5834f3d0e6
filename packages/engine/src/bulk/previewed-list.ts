import { hash } from 'node:crypto'
import { BULK_MARK_LENGTH } from '@counterstep/protocol'

/** Writes the list of a preview in short, for the job that is started from it. */
export function shortenList(gids: readonly string[]): string {
  return gids.map(markGid).join('')
}

export interface ShortList {
  readonly size: number
  has(gid: string): boolean
}

/** Reads the list that {@link shortenList} has written. */
export function readShortList(list: string): ShortList {
  const marks = new Set<string>()
  for (let from = 0; from < list.length; from += BULK_MARK_LENGTH)
    marks.add(list.slice(from, from + BULK_MARK_LENGTH))
  return { size: marks.size, has: (gid) => marks.has(markGid(gid)) }
}

/** The beginning of a hash stands for a gid. */
function markGid(gid: string): string {
  return hash('sha256', gid, 'base64url').slice(0, BULK_MARK_LENGTH)
}
