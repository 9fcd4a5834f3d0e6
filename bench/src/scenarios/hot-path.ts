import { runRounds } from '../rounds.ts'
import { rowNamed, toRatio } from '../row.ts'
import type { Scenario, ScenarioContext } from '../scenario.ts'
import { openStoreHost, toStoreFacts } from '../stores/open-store-host.ts'
import type { StoreHost } from '../stores/store-host.ts'
import { FIRST_FILES, type OlderProgram, unpackOlderProgram } from './hot-path/older-program.ts'
import { openConsoles } from './hot-path/open-consoles.ts'
import { auditOpenedRows, type OpenedRow, openSagaFixture, sagaPlan } from './saga-fixture.ts'
import type { SagaWords } from './saga-job.ts'

const NAME = 'transfer'
const TAGS = { region: 'eu', tier: '2', channel: 'mobile' }

interface RowKind {
  readonly name: string
  readonly words?: SagaWords
  readonly isOlder?: boolean
  readonly hasConsoles?: boolean
}

const PLAIN = 'saga'
const BEFORE = 'saga, before names'
const NAMED = 'saga, a name'
const TAGGED = 'saga, a name and 3 tags'
const WATCHED = 'saga, beside consoles'

const KINDS: readonly RowKind[] = [
  { name: BEFORE, isOlder: true },
  { name: PLAIN },
  { name: NAMED, words: { name: NAME } },
  { name: TAGGED, words: { name: NAME, tags: TAGS } },
  { name: WATCHED, hasConsoles: true },
]

export const hotPath: Scenario = {
  name: 'hot-path',
  summary:
    'sagas with a name, with tags, beside open consoles, and with the code from before there were names',
  async run(context) {
    const { harness, settings, progress } = context
    const older = unpackOlderProgram(harness.folder, FIRST_FILES.names)
    const host = await openStoreHost(harness, settings.store)
    const opened: OpenedRow[] = []
    for (const kind of KINDS) opened.push(await openRow(context, host, kind, older))
    const plans = opened.map(({ plan }) => plan)
    const rows = await runRounds(context, plans)
    progress.show('counting what is stored')
    const counters = await auditOpenedRows(opened, rows)
    const [, today] = opened
    if (today === undefined) throw new Error('a row is missing')
    const ratio = (name: string, above: string, below: string) =>
      toRatio(name, rowNamed(rows, above), rowNamed(rows, below))
    return {
      store: toStoreFacts(host, today.fixture.servers[0]),
      rows,
      ratios: [
        ratio('saga/before names', PLAIN, BEFORE),
        ratio('name/saga', NAMED, PLAIN),
        ratio('name and 3 tags/saga', TAGGED, PLAIN),
        ratio('beside consoles/saga', WATCHED, PLAIN),
      ],
      counters,
      notes: [`before names: commit ${older.commit}, with today's dependencies`],
    }
  },
}

/** Each row has a server and a database of its own, so that all that it did can be counted. */
async function openRow(
  context: ScenarioContext,
  host: StoreHost,
  { name, words, isOlder = false, hasConsoles = false }: RowKind,
  older: OlderProgram,
): Promise<OpenedRow> {
  const { branches, connections } = context.settings
  const program = isOlder ? { program: older.program } : {}
  const fixture = await openSagaFixture(context, host, await host.newDatabase(), program)
  const plan = sagaPlan(fixture, context, { name, connections, branches, ...(words && { words }) })
  if (!hasConsoles) return { fixture, plan }
  const [{ url }] = fixture.servers
  return { fixture, plan: { ...plan, watch: () => openConsoles(url) } }
}
