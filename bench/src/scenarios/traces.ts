import { startBranch } from '../harness/branch.ts'
import { runRounds } from '../rounds.ts'
import { rowNamed, toRatio } from '../row.ts'
import type { Scenario, ScenarioContext } from '../scenario.ts'
import { openStoreHost, toStoreFacts } from '../stores/open-store-host.ts'
import type { Database, StoreHost } from '../stores/store-host.ts'
import { FIRST_FILES, type OlderProgram, unpackOlderProgram } from './hot-path/older-program.ts'
import { auditOpenedRows, type OpenedRow, openSagaFixture, sagaPlan } from './saga-fixture.ts'

const BEFORE = 'saga, before traces'
const PLAIN = 'saga'
const SOME = 'saga, 1 % of the traces'
const ALL = 'saga, all traces'

/** The share of the traces that is sent. Undefined: OpenTelemetry is not started. */
const SHARES: Readonly<Record<string, string | undefined>> = {
  [BEFORE]: undefined,
  [PLAIN]: undefined,
  [SOME]: '0.01',
  [ALL]: '1',
}

export const traces: Scenario = {
  name: 'traces',
  summary: 'sagas whose spans are sent: none, 1 %, all; and with the code from before there were spans',
  async run(context) {
    const { harness, settings, progress } = context
    const older = unpackOlderProgram(harness.folder, FIRST_FILES.traces)
    const host = await openStoreHost(harness, settings.store)
    // It answers 200 to whatever is sent, and so stands for a receiver that costs little.
    const receiver = await startBranch(harness)
    const opened: OpenedRow[] = []
    for (const name of Object.keys(SHARES))
      opened.push(await openRow(context, host, name, older, receiver.url))
    const rows = await runRounds(
      context,
      opened.map(({ plan }) => plan),
    )
    progress.show('counting what is stored')
    const counters = await auditOpenedRows(opened, rows)
    const [first] = opened
    if (first === undefined) throw new Error('a row is missing')
    const ratio = (name: string, above: string, below: string) =>
      toRatio(name, rowNamed(rows, above), rowNamed(rows, below))
    return {
      store: toStoreFacts(host, first.fixture.servers[0]),
      rows,
      ratios: [
        ratio('saga/before traces', PLAIN, BEFORE),
        ratio('1 % of the traces/saga', SOME, PLAIN),
        ratio('all traces/saga', ALL, PLAIN),
      ],
      counters: { ...counters, exports: await receiver.callCount() },
      notes: [`before traces: commit ${older.commit}, with today's dependencies`],
    }
  },
}

/** Each row has a server and a database of its own, so that all that it did can be counted. */
async function openRow(
  context: ScenarioContext,
  host: StoreHost,
  name: string,
  older: OlderProgram,
  receiverUrl: string,
): Promise<OpenedRow> {
  const { branches, connections } = context.settings
  const share = SHARES[name]
  const database = await host.newDatabase()
  const fixture = await openSagaFixture(
    context,
    host,
    share === undefined ? database : withShare(database, share),
    {
      ...(name === BEFORE ? { program: older.program } : {}),
      ...(share === undefined ? {} : { options: ['--otlp', receiverUrl] }),
    },
  )
  return { fixture, plan: sagaPlan(fixture, context, { name, connections, branches }) }
}

function withShare(database: Database, share: string): Database {
  const environment = {
    OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
    OTEL_TRACES_SAMPLER_ARG: share,
    // The default is five seconds, and a short row would end before anything is sent.
    OTEL_BSP_SCHEDULE_DELAY: '200',
  }
  return { ...database, environment: { ...database.environment, ...environment } }
}
