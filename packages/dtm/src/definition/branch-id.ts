import { BRANCH_ID_LENGTH_MAX, type BranchId, isBranchId } from '@counterstep/protocol'
import { refuseOver } from '../wire/answer.ts'

/** "01", "02", …, "99", "100"; of a topic with several subscribers "01-01", "01-02", …. */
export function branchIdAt(step: number, subscriber?: number, joint: '-' | '.' = '-'): BranchId {
  const id = twoDigits(step + 1)
  return (subscriber === undefined ? id : `${id}${joint}${twoDigits(subscriber + 1)}`) as BranchId
}

/** A client's own: any text of signs that are ids everywhere. */
export function readBranchId(text: string): BranchId {
  if (isBranchId(text)) return text
  throw refuseOver(`branch_id must be 1–${BRANCH_ID_LENGTH_MAX} characters of A-Z a-z 0-9 . _ : -`)
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0')
}
