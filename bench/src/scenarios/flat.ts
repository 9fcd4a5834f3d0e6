import { setTimeout as pause } from 'node:timers/promises'
import { checkEqual } from '../check-counts.ts'
import { startBranch } from '../harness/branch.ts'
import { databaseWorker } from '../harness/database-worker.ts'
import { type Server, startServer } from '../harness/server.ts'
import type { Measured } from '../rounds.ts'
import type { Scenario, ScenarioContext } from '../scenario.ts'
import { openStoreHost, toStoreFacts } from '../stores/open-store-host.ts'
import type { StoreHost } from '../stores/store-host.ts'
import { claimDue } from './flat/claim-due.ts'
import { flatRows, type TableRounds } from './flat/flat-rows.ts'
import { measureSubmits } from './flat/measure-submits.ts'
import { openTables, TABLE_NAMES, type TableName, type Tables } from './flat/open-tables.ts'
import type { SagaShape } from './saga-job.ts'

/** The time from submit to the first call is enough for the submits of both tables, and for killing their servers. */
const DELAY_MS = 30_000
/** Longer than a round, so that no call that is held times out. */
const BRANCH_TIMEOUT_MS = 120_000

export const flat: Scenario = {
  name: 'flat',
  summary: 'what a submit and a claim cost beside many finished transactions, against an empty table',
  defaults: { sagas: 2_000 },
  async run(context) {
    const { harness, settings } = context
    const host = await openStoreHost(harness, settings.store)
    const branch = await startBranch(harness)
    const shape = { branchUrl: branch.url, branches: settings.branches, timeoutMs: BRANCH_TIMEOUT_MS }
    const tables = await openTables(context, host, branch, shape)
    const seen = { empty: newRounds(), full: newRounds() }
    const counters = { submitted: 0, finished: 0 }
    let server: Server | undefined
    for (let round = 1; round <= settings.rounds; round += 1) {
      // The second of the two profits from the first, because the branches and the load are warm.
      const order = round % 2 === 0 ? TABLE_NAMES.toReversed() : TABLE_NAMES
      context.progress.show(`round ${round} of ${settings.rounds}`)
      const submitted = await submitToBoth(
        context,
        host,
        tables,
        { ...shape, delayMs: DELAY_MS },
        order,
        seen,
      )
      server = submitted.server
      for (const name of order) {
        const due = submitted.counts[name]
        const claims = await claimDue(context, tables[name], branch, due)
        seen[name].claims.push(claims)
        counters.submitted += due
        counters.finished += claims.finished
      }
    }
    if (server === undefined) throw new Error('there was no round')
    checkEqual(counters)
    return {
      store: toStoreFacts(host, server),
      ...flatRows(seen, settings.connections),
      counters: { ...counters, finishedRows: settings.rows },
      notes: [
        `full: ${settings.rows} finished transactions, copies of one that ran; empty: that one alone, and in each round what was submitted`,
        'submit: stored and answered, no call before a delay has passed; create ms: the store call within it, by the server’s own metrics',
        'claim: the store call that claims up to 100 due sagas, by the server’s own metrics, while its branches hold',
      ],
    }
  },
}

interface Submitted {
  readonly server: Server
  readonly counts: Readonly<Record<TableName, number>>
}

/** Both servers run, and are asked in turn. Returns when all that was submitted is due and no server runs it. */
async function submitToBoth(
  context: ScenarioContext,
  host: StoreHost,
  tables: Tables,
  shape: SagaShape,
  order: readonly TableName[],
  seen: Readonly<Record<TableName, TableRounds>>,
): Promise<Submitted> {
  const { harness, settings } = context
  const servers = {
    empty: await startServer(harness, tables.empty, settings),
    full: await startServer(harness, tables.full, settings),
  }
  const startedAt = performance.now()
  const counts = { empty: 0, full: 0 }
  const submit = async (name: TableName, connections: number): Promise<Measured> => {
    const measured = await measureSubmits(context, servers[name], shape, connections, databaseWorker(host))
    counts[name] += measured.answers
    return measured
  }
  // The first time only warms the servers up.
  for (const name of order) await submit(name, settings.connections)
  for (const name of order) seen[name].together.push(await submit(name, settings.connections))
  for (const name of order) seen[name].oneByOne.push(await submit(name, 1))
  for (const name of order) await servers[name].child.kill()
  if (performance.now() - startedAt >= DELAY_MS)
    throw new Error(`the submits took longer than ${DELAY_MS} ms`)
  context.progress.show('what was submitted becomes due')
  await pause(DELAY_MS)
  return { server: servers.full, counts }
}

function newRounds(): TableRounds {
  return { together: [], oneByOne: [], claims: [] }
}
