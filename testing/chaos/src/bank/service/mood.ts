import { type Branch, BranchFailure, BranchOngoing } from '@counterstep/sdk'
import type { Mood, TransferPayload } from './transfer-payload.ts'

/** Nothing but what waits for an operator breaks any more after so many attempts: everything has an end that a run can wait for. */
const BROKEN_ATTEMPTS_MAX = 4

/** Throws the answer that a moody branch gives in place of its work. */
export function applyMood(
  { op, attempt, payload: { mood } }: Branch<TransferPayload>,
  draw: () => number,
): void {
  const isForward = op === 'action' || op === 'try'
  const isTails = draw() < 0.5
  const mayBreak = attempt <= BROKEN_ATTEMPTS_MAX
  switch (mood) {
    case 'sound':
      return
    case 'refuses':
      if (isForward) throw new BranchFailure('the account is closed')
      return
    case 'moody':
      if (isForward && isTails) throw new BranchFailure('not today')
      return
    case 'breaks':
      if (isTails && mayBreak) throw new Error('a fault of the bank, on purpose')
      return
    case 'ongoing':
      if (isTails && mayBreak) throw new BranchOngoing()
      return
    case 'dead':
      if (isForward) throw new Error('it waits for an operator')
  }
}

/** The moods that a local step of a workflow may have. */
export type StepMood = Extract<Mood, 'sound' | 'refuses' | 'moody' | 'breaks'>

/** Throws in place of a step's work. It is asked again without a count, so a step that breaks does so half of the time. */
export function applyStepMood(mood: StepMood, draw: () => number): void {
  const isTails = draw() < 0.5
  if (mood === 'refuses') throw new BranchFailure('the account is closed')
  if (mood === 'moody' && isTails) throw new BranchFailure('not today')
  if (mood === 'breaks' && isTails) throw new Error('a fault of a step, on purpose')
}
