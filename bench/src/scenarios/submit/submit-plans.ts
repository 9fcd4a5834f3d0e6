import { until } from '@counterstep/test-servers/until'
import { databaseWorker } from '../../harness/database-worker.ts'
import { readReadiness, type Server } from '../../harness/server.ts'
import { toTimedLength } from '../../load/to-timed-length.ts'
import type { Figures, RowPlan } from '../../rounds.ts'
import type { ScenarioContext } from '../../scenario.ts'
import type { CountedHost } from '../../stores/open-counted-host.ts'
import { counted } from '../counted.ts'
import type { SagaFixture } from '../saga-fixture.ts'
import { submitJob } from '../saga-job.ts'

export const ACKS = ['durable', 'memory'] as const
export type Ack = (typeof ACKS)[number]

/** All that was accepted has ended by then. */
const END_MS_MAX = 60_000

export interface SubmitVariant {
  readonly ack: Ack
  readonly connections: number
  /** 0: as it is. */
  readonly flushDelayUs: number
}

export interface SubmitPlan extends RowPlan {
  readonly variant: SubmitVariant
}

/** No client waits for the end, but it comes before the next row is measured. */
export function submitPlan(
  fixture: SagaFixture,
  { settings }: ScenarioContext,
  variant: SubmitVariant,
  own: CountedHost | undefined,
): SubmitPlan {
  const { ack, connections, flushDelayUs } = variant
  const [server] = fixture.servers
  const shape = {
    branchUrl: fixture.branch.url,
    branches: settings.branches,
    ...(ack === 'memory' ? { ack } : {}),
  }
  const flush = flushDelayUs === 0 ? '' : `, ${flushDelayUs / 1000} ms flush`
  return {
    name: `${ack}, ${counted(connections, 'connection')}${flush}`,
    variant,
    job: submitJob(server.url, shape, connections, toTimedLength(settings)),
    workers: [server.child, fixture.branch.child, ...databaseWorker(fixture.host)],
    watch: async () => {
      await own?.slowFlushes(flushDelayUs)
      const startedAt = performance.now()
      return (answers) => figuresUntilEnd(server, startedAt, answers)
    },
  }
}

async function figuresUntilEnd(server: Server, startedAt: number, answers: number): Promise<Figures> {
  const answeredAt = performance.now()
  const { inFlight } = await readReadiness(server.url)
  await until('the end of what was accepted', END_MS_MAX, async () =>
    (await readReadiness(server.url)).inFlight === 0 ? true : undefined,
  )
  const endedAt = performance.now()
  return {
    'in flight then': inFlight,
    'until all ended ms': endedAt - answeredAt,
    'ended/s': (answers / (endedAt - startedAt)) * 1000,
  }
}
