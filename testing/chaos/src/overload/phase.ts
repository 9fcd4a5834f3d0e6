import { isAccepted, isRefused } from './audit.ts'
import { quantile } from './quantile.ts'
import type { Submitted } from './submitter.ts'

export interface PhaseFigures {
  readonly offered: number
  /** Sagas that succeeded within the phase, a second. */
  readonly goodputPerSecond: number
  readonly refused: number
  /** Refusals that do not say when to come again. */
  readonly withoutRetryAfter: number
  /** The time from the intended start to the final answer. */
  readonly acceptedP50Ms: number | undefined
  readonly acceptedP99Ms: number | undefined
  readonly refusedP50Ms: number | undefined
  readonly refusedP99Ms: number | undefined
}

export function toFigures(submitted: readonly Submitted[], seconds: number): PhaseFigures {
  const startedAt = submitted[0]?.intendedAt ?? 0
  const refused = submitted.filter(isRefused)
  const accepted = latenciesMs(submitted.filter(isAccepted))
  const refusals = latenciesMs(refused)
  const finished = submitted.filter(
    (each) => each.status === 'succeeded' && each.endedAt < startedAt + seconds * 1000,
  )
  return {
    offered: submitted.length,
    goodputPerSecond: finished.length / seconds,
    refused: refused.length,
    withoutRetryAfter: refused.filter(({ retryAfter }) => !(Number(retryAfter) > 0)).length,
    acceptedP50Ms: quantile(accepted, 0.5),
    acceptedP99Ms: quantile(accepted, 0.99),
    refusedP50Ms: quantile(refusals, 0.5),
    refusedP99Ms: quantile(refusals, 0.99),
  }
}

/**
 * How long after the start of a phase the last saga began that was refused or took longer than `latencyMsMax`: from
 * then on all is normal. 0: it was from the first.
 */
export function settledAfterMs(submitted: readonly Submitted[], latencyMsMax: number): number {
  const startedAt = submitted[0]?.intendedAt ?? 0
  const odd = submitted.filter((each) => !isAccepted(each) || each.endedAt - each.intendedAt > latencyMsMax)
  return Math.max(0, ...odd.map(({ intendedAt }) => intendedAt - startedAt))
}

function latenciesMs(submitted: readonly Submitted[]): number[] {
  return submitted.map(({ intendedAt, endedAt }) => endedAt - intendedAt)
}
