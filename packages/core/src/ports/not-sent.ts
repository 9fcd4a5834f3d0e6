import type { BranchAnswer } from './ports.ts'

const WORD = 'not-sent'

/** The answer to a call that was not sent. It is no failed attempt, so it does not count against a retry limit. */
export const NOT_SENT: BranchAnswer = { result: 'ongoing', error: WORD }

export function isSent({ error }: BranchAnswer): boolean {
  return error !== WORD
}
