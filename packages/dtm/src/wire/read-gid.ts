import { GID_RULE, type Gid, isGid } from '@counterstep/protocol'
import { refuse, refuseOver } from './answer.ts'

/** DTM takes these out of a gid before it looks at it. */
export function strippedGid(text: string): string {
  return text.replaceAll(/[\r\n;]/g, '')
}

/** Throws for what cannot be stored: DTM keeps some of it in one store and loses it in another. */
export function readGid(text: string): Gid {
  if (!isGid(text)) throw refuseOver(`gid ${GID_RULE}`)
  return text
}

/** For what must be there: one that cannot be stored is not. */
export function readKnownGid(text: string): Gid {
  if (!isGid(text)) throw unknownGid(text)
  return text
}

export function unknownGid(gid: string) {
  return refuse(`no TransGlobal with gid: ${gid} found`)
}
