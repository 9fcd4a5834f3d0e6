import { GID_RULE, type Gid, isAlertGid, isGid } from '@counterstep/protocol'
import { refuse, refuseUnprocessable } from './answer.ts'
import { cutRepeated } from './cut-repeated.ts'

/** Removes the characters that DTM removes from each gid before it reads it. */
export function stripGid(text: string): string {
  return text.replaceAll(/[\r\n;]/g, '')
}

/**
 * Reads the gid of a new transaction. Throws for one that not every store can keep: DTM keeps some of these in one store and
 * loses them in another. Throws also for one of an alert.
 */
export function readGid(text: string): Gid {
  if (!isGid(text)) throw refuseUnprocessable(`gid ${GID_RULE}`)
  if (isAlertGid(text)) throw refuseUnprocessable('this gid is kept for alerts')
  return text
}

/** Reads the gid of a transaction that must exist. A gid that cannot be stored gets the same answer as an unknown one. */
export function readKnownGid(text: string): Gid {
  if (!isGid(text)) throw refuseUnknownGid(text)
  return text
}

export function refuseUnknownGid(gid: string) {
  return refuse(`no TransGlobal with gid: ${cutRepeated(gid)} found`)
}
