import { until } from '@counterstep/test-servers/until'
import type { Branch } from './harness/branch.ts'
import { type Metrics, readMetrics, sumMetric } from './harness/metrics.ts'
import { readReadiness, type Server } from './harness/server.ts'

const END_MS_MAX = 300_000
const CALLS_LOOK_MS = 250

export interface Ended {
  /** This machine's clock, in milliseconds from the epoch. */
  readonly firstCallAt: number
  /** The server held nothing any more: the last end was durable. */
  readonly endAt: number
  /** The metrics of the server at that moment. */
  readonly metrics: Metrics
}

/**
 * Waits until so many sagas have succeeded on this server, and sees when the last one did. The branch counts from zero.
 * The server itself is hardly asked before the last branch call has come.
 */
export async function watchEnd(
  server: Server,
  branch: Branch,
  expected: { readonly sagas: number; readonly calls: number },
  onCalls: (calls: number) => void,
): Promise<Ended> {
  await until(
    `${expected.calls} branch calls`,
    END_MS_MAX,
    async () => {
      const { calls } = await branch.calls()
      onCalls(calls)
      return calls < expected.calls ? undefined : calls
    },
    CALLS_LOOK_MS,
  )
  const end = await until(`the end of ${expected.sagas} sagas`, END_MS_MAX, () =>
    findEnd(server, expected.sagas),
  )
  const { firstAt } = await branch.calls()
  if (firstAt === null) throw new Error('the branches were not called')
  return { firstCallAt: firstAt, ...end }
}

async function findEnd(server: Server, sagas: number): Promise<Omit<Ended, 'firstCallAt'> | undefined> {
  const endAt = Date.now()
  const { inFlight } = await readReadiness(server.url)
  if (inFlight > 0) return undefined
  const metrics = await readMetrics(server.url)
  return succeededIn(metrics) < sagas ? undefined : { endAt, metrics }
}

export function succeededIn(metrics: Metrics): number {
  return sumMetric(metrics, 'counterstep_transaction_duration_seconds_count', { status: 'succeeded' })
}
