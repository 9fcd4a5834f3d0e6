import { sumMetric, timesBetween } from '../../harness/metrics.ts'
import type { Figures } from '../../rounds.ts'
import type { Ended } from '../../watch-end.ts'

export interface RecoveryFigures {
  readonly perSecond: number
  readonly figures: Figures
}

/** Computes the figures from the metrics of a server that did nothing but recover. */
export function recoveryFigures(ended: Ended, startedAt: number, sagas: number): RecoveryFigures {
  const { metrics, firstCallAt, endAt } = ended
  const seconds = (endAt - firstCallAt) / 1000
  const calls = timesBetween(undefined, metrics, 'counterstep_branch_call_duration_seconds')
  const storeCalls = (verb: string) =>
    timesBetween(undefined, metrics, 'counterstep_store_call_duration_seconds', { verb })
  const claims = storeCalls('claim-due')
  const updates = storeCalls('update')
  return {
    perSecond: sagas / seconds,
    figures: {
      seconds,
      'start to first call s': (firstCallAt - startedAt) / 1000,
      // Little's law: the sum of their durations over the time.
      'calls at once': calls.seconds / seconds,
      claims: claims.count,
      'claim ms': (claims.seconds / claims.count) * 1000,
      // Claims follow one on the other, so near 1 they are what recovery waits for.
      'in claims': claims.seconds / seconds,
      'update ms': (updates.seconds / updates.count) * 1000,
      'loop p99 ms': sumMetric(metrics, 'nodejs_eventloop_lag_p99_seconds') * 1000,
    },
  }
}
