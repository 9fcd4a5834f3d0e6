import { readMetrics, timesBetween } from '../../harness/metrics.ts'
import type { Server } from '../../harness/server.ts'
import type { LoadLength } from '../../load/load-job.ts'
import { type Measured, measure, type RowPlan, type Worker } from '../../rounds.ts'
import type { ScenarioContext } from '../../scenario.ts'
import { type SagaShape, submitJob } from '../saga-job.ts'

/** Few, so that the table that should be empty stays nearly so. */
const MANY: LoadLength = { type: 'count', warmUpAnswers: 1_000, answers: 4_000 }
const ONE_BY_ONE: LoadLength = { type: 'count', warmUpAnswers: 100, answers: 900 }

/** Submits that only store: the first call is due later. */
export async function measureSubmits(
  { harness }: ScenarioContext,
  server: Server,
  shape: SagaShape,
  connections: number,
  workers: readonly Worker[],
): Promise<Measured> {
  const length = connections === 1 ? ONE_BY_ONE : MANY
  const job = submitJob(server.url, shape, connections, length)
  return await measure(harness, {
    name: `submits of ${connections}`,
    job,
    workers: [server.child, ...workers],
    watch: () => watchCreates(server.url),
  })
}

async function watchCreates(url: string): ReturnType<NonNullable<RowPlan['watch']>> {
  const before = await readMetrics(url)
  return async () => {
    const creates = timesBetween(before, await readMetrics(url), 'counterstep_store_call_duration_seconds', {
      verb: 'create',
    })
    return { 'create ms': (creates.seconds / creates.count) * 1000 }
  }
}
