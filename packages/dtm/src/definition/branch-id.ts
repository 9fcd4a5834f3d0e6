import { BRANCH_ID_RULE, type BranchId, isBranchId } from '@counterstep/protocol'
import { refuseUnprocessable } from '../wire/answer.ts'

/**
 * Builds the id that DTM gives to a step: "01", "02", …, "99", "100". The branches of a topic with several subscribers
 * are "01-01", "01-02", ….
 */
export function buildBranchId(step: number, subscriber?: number, joint: '-' | '.' = '-'): BranchId {
  const id = toTwoDigits(step + 1)
  return (subscriber === undefined ? id : `${id}${joint}${toTwoDigits(subscriber + 1)}`) as BranchId
}

/** Reads a branch id that a client has chosen. Throws for a text that a store could not keep as an id. */
export function readBranchId(text: string): BranchId {
  if (isBranchId(text)) return text
  throw refuseUnprocessable(`branch_id ${BRANCH_ID_RULE}`)
}

function toTwoDigits(value: number): string {
  return String(value).padStart(2, '0')
}
