import { until } from '@counterstep/test-servers/until'
import type { Branch } from '../../harness/branch.ts'
import { type Metrics, readMetrics, sumMetric, timesBetween } from '../../harness/metrics.ts'
import { startServer } from '../../harness/server.ts'
import type { ScenarioContext } from '../../scenario.ts'
import type { Database } from '../../stores/store-host.ts'
import { succeededIn, watchEnd } from '../../watch-end.ts'

const CLAIM_MS_MAX = 60_000

export interface DueClaims {
  readonly claimed: number
  readonly claims: number
  /** The time of all claims together, measured by the server around its calls of the store. */
  readonly seconds: number
  /** All that were due and have succeeded since. */
  readonly finished: number
}

/**
 * Starts a server on sagas that are due and holds their branches, so that it does nothing but claim until it has
 * claimed as many as asked for. Then lets all of them end.
 */
export async function claimDue(
  { harness, settings, progress }: ScenarioContext,
  database: Database,
  branch: Branch,
  due: number,
): Promise<DueClaims> {
  const { sagas, branches } = settings
  if (due < sagas) throw new Error(`only ${due} sagas are due, not ${sagas}`)
  await branch.hold()
  await branch.forget()
  // All are of one target, whose share of the default would be given back.
  const limits = ['--recovery-in-flight-max', String(sagas), '--target-share', '1']
  const server = await startServer(harness, database, settings, limits)
  const metrics = await until('the claims', CLAIM_MS_MAX, async () => {
    const seen = await readMetrics(server.url)
    return claimedIn(seen) < sagas ? undefined : seen
  })
  const claims = timesBetween(undefined, metrics, 'counterstep_store_call_duration_seconds', {
    verb: 'claim-due',
  })
  await branch.release()
  const expected = { sagas: due, calls: due * branches }
  const ended = await watchEnd(server, branch, expected, (calls) =>
    progress.show(`${calls} of ${expected.calls} branch calls`),
  )
  await server.child.stop()
  return {
    claimed: claimedIn(metrics),
    claims: claims.count,
    seconds: claims.seconds,
    finished: succeededIn(ended.metrics),
  }
}

function claimedIn(metrics: Metrics): number {
  return sumMetric(metrics, 'counterstep_transactions_claimed_total')
}
