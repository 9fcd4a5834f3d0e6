import { setTimeout as sleep } from 'node:timers/promises'
import { BranchError } from '../branch/branch-errors.ts'

/**
 * This is half of the time that an orchestrator gives a call by default, so that the orchestrator learns of the
 * contention before it stops waiting.
 */
const REPEAT_FOR_MS = 5_000
const PAUSE_MS_FIRST = 4

/** Says how often a transaction is repeated, and how long the pauses are. The total time is the same for all. */
export interface RepeatPace {
  readonly repeatsMax: number
  readonly pauseMsMax: number
}

const SERVER_PACE: RepeatPace = { repeatsMax: 20, pauseMsMax: 250 }

/**
 * Runs a whole database transaction again while it is the victim of contention. The pauses have full jitter, so that
 * two victims do not meet again. Both the number of repetitions and their total time are bounded, because a lock wait
 * may itself take 50 s.
 */
export async function repeatContended<T>(
  transaction: () => Promise<T>,
  isContended: (error: unknown) => boolean,
  { repeatsMax, pauseMsMax }: RepeatPace = SERVER_PACE,
): Promise<T> {
  const startedAt = performance.now()
  for (let repeats = 0; ; repeats++) {
    try {
      return await transaction()
    } catch (error: unknown) {
      if (!isContended(error)) throw error
      if (repeats === repeatsMax || performance.now() - startedAt > REPEAT_FOR_MS) {
        throw new BranchError('BARRIER_CONTENDED', `contended ${repeats + 1} times`, error)
      }
    }
    await sleep(Math.random() * Math.min(PAUSE_MS_FIRST * 2 ** repeats, pauseMsMax))
  }
}

const CAUSES_MAX = 5

/**
 * Lists the error and its causes. A query builder wraps the driver's error, and only the code of the driver's error
 * tells what to do.
 */
export function* listCauses(error: unknown): Generator<object> {
  let cause = error
  for (let depth = 0; depth < CAUSES_MAX && typeof cause === 'object' && cause !== null; depth++) {
    yield cause
    cause = 'cause' in cause ? cause.cause : undefined
  }
}
