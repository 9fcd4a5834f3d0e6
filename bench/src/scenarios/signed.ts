import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { COUNTERSTEP_PROGRAM } from '@counterstep/test-servers/counterstep-program'
import { runRounds } from '../rounds.ts'
import { toRatio } from '../row.ts'
import type { Scenario, ScenarioContext } from '../scenario.ts'
import { openStoreHost, toStoreFacts } from '../stores/open-store-host.ts'
import type { StoreHost } from '../stores/store-host.ts'
import { auditOpenedRows, type OpenedRow, openSagaFixture, sagaPlan } from './saga-fixture.ts'

const ALGORITHMS = ['ed25519', 'hmac-sha256'] as const
type Algorithm = (typeof ALGORITHMS)[number]

export const signed: Scenario = {
  name: 'signed',
  summary: 'saga beside the same with every branch call signed: by Ed25519, by HMAC; nobody verifies',
  async run(context) {
    const host = await openStoreHost(context.harness, context.settings.store)
    const plain = await openRow(context, host)
    const signing: OpenedRow[] = []
    for (const algorithm of ALGORITHMS) signing.push(await openRow(context, host, algorithm))
    const fixtures = [plain, ...signing]
    const rows = await runRounds(
      context,
      fixtures.map(({ plan }) => plan),
    )
    context.progress.show('counting what is stored')
    const counters = await auditOpenedRows(fixtures, rows)
    const [plainRow, ...signedRows] = rows
    if (plainRow === undefined) throw new Error('a row is missing')
    return {
      store: toStoreFacts(host, plain.fixture.servers[0]),
      rows,
      ratios: signedRows.map((row, index) => toRatio(`signed/saga, ${ALGORITHMS[index]}`, row, plainRow)),
      counters,
    }
  },
}

async function openRow(context: ScenarioContext, host: StoreHost, algorithm?: Algorithm): Promise<OpenedRow> {
  const { branches, connections } = context.settings
  const options = algorithm === undefined ? [] : ['--signing-key-file', makeKey(context, algorithm)]
  const fixture = await openSagaFixture(context, host, await host.newDatabase(), { options })
  const name = algorithm === undefined ? 'saga' : `saga, signed, ${algorithm}`
  return { fixture, plan: sagaPlan(fixture, context, { name, connections, branches }) }
}

/** Makes a key with the same command that a user calls. */
function makeKey({ harness }: ScenarioContext, algorithm: Algorithm): string {
  const path = join(harness.folder, `${algorithm}.key`)
  const args = [COUNTERSTEP_PROGRAM, 'signing-key', 'create', '--alg', algorithm, '--out', path]
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`there is no key: ${stderr}`)
  return path
}
