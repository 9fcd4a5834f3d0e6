/**
 * The attempts of one op as runs of the same outcome. There are at most ATTEMPT_RUNS_MAX: beyond it the two oldest become
 * one, called `mixed`, so that counts and instants stay true for any number of attempts. An attempt that succeeded makes no
 * run, so an op that succeeded at once has none, and its record does not grow.
 */
import { ATTEMPT_RUNS_MAX, type AttemptRun, RUN_EXCERPT_LENGTH_MAX } from '@counterstep/protocol'
import type { BranchAnswer } from '../ports/ports.ts'

const MIXED = 'mixed'

/**
 * Says in one word how an attempt ended. An error word goes before the status, since a status whose answer did not come
 * whole says nothing.
 */
export function nameOutcome({
  result,
  statusCode,
  error,
}: Pick<BranchAnswer, 'error' | 'statusCode'> & { readonly result?: BranchAnswer['result'] }): string {
  if (result === 'ongoing') return '425'
  if (error !== undefined) return error
  if (result === 'failure') return '409'
  return statusCode === undefined ? 'unknown' : String(statusCode)
}

export function addAttempt(
  runs: readonly AttemptRun[] = [],
  { attempt, answer }: { readonly attempt: number; readonly answer: BranchAnswer },
  now: number,
): readonly AttemptRun[] {
  const outcome = nameOutcome(answer)
  const { excerpt } = answer
  const last = runs.at(-1)
  const goesOn = last?.outcome === outcome
  const run: AttemptRun = {
    outcome,
    from: goesOn ? last.from : attempt,
    count: goesOn ? last.count + 1 : 1,
    firstAt: goesOn ? last.firstAt : now,
    lastAt: now,
    ...(excerpt === undefined ? {} : { excerpt: cutExcerpt(excerpt) }),
  }
  return mergeOldest([...(goesOn ? runs.slice(0, -1) : runs), run])
}

function mergeOldest(runs: readonly AttemptRun[]): readonly AttemptRun[] {
  const [first, second, ...rest] = runs
  if (first === undefined || second === undefined || runs.length <= ATTEMPT_RUNS_MAX) return runs
  const { from, firstAt } = first
  return [
    { outcome: MIXED, from, count: first.count + second.count, firstAt, lastAt: second.lastAt },
    ...rest,
  ]
}

/** Leaves out half of a surrogate pair at the end, which no JSON text could carry. */
function cutExcerpt(excerpt: string): string {
  if (excerpt.length <= RUN_EXCERPT_LENGTH_MAX) return excerpt
  return excerpt.slice(0, RUN_EXCERPT_LENGTH_MAX).replace(/[\ud800-\udbff]$/, '')
}
