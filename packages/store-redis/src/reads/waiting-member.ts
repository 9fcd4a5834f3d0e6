import type { Gid } from '@counterstep/protocol'

/** A member of the index `waiting`, which scripts/parts/indexes.lua writes. No problem and no accept has a blank. */
export function decodeWaiting(member: string): { readonly createdAt: number; readonly gid: Gid } {
  const accept = member.indexOf(' ') + 1
  const end = member.indexOf(' ', accept)
  return { createdAt: Number(member.slice(accept, end)), gid: member.slice(end + 1) as Gid }
}
