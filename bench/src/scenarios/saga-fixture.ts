import { checkEqual } from '../check-counts.ts'
import { type Branch, startBranch } from '../harness/branch.ts'
import { countStored } from '../harness/count-stored.ts'
import { databaseWorker } from '../harness/database-worker.ts'
import { type Server, startServer } from '../harness/server.ts'
import { toTimedLength } from '../load/to-timed-length.ts'
import type { RowPlan, Worker } from '../rounds.ts'
import { type Row, rowNamed } from '../row.ts'
import type { ScenarioContext } from '../scenario.ts'
import type { Database, StoreHost } from '../stores/store-host.ts'
import { type SagaShape, sagaJob } from './saga-job.ts'

/** Servers on one database and branches of their own, so that everything they did can be counted. */
export interface SagaFixture {
  readonly host: StoreHost
  readonly branch: Branch
  /** There is at least one; any of them can be asked. */
  readonly servers: readonly [Server, ...Server[]]
}

export interface SagaVariant extends Omit<SagaShape, 'branchUrl'> {
  readonly name: string
  readonly connections: number
  /** Those of the fixture that are asked; all of them if absent. */
  readonly processes?: number
}

interface ServerChoice {
  readonly processes?: number
  readonly options?: readonly string[]
  /** The program `counterstep`, if it is not that of this checkout. */
  readonly program?: string
}

export interface SagaPlan extends RowPlan {
  readonly variant: SagaVariant
}

export async function openSagaFixture(
  { harness, settings }: ScenarioContext,
  host: StoreHost,
  database: Database,
  { processes = 1, options = [], program }: ServerChoice = {},
): Promise<SagaFixture> {
  const branch = await startBranch(harness)
  const start = () => startServer(harness, database, settings, options, program)
  const servers: [Server, ...Server[]] = [await start()]
  while (servers.length < processes) servers.push(await start())
  return { host, branch, servers }
}

/** Each caller waits for the end of its saga. */
export function sagaPlan(
  fixture: SagaFixture,
  { settings }: ScenarioContext,
  variant: SagaVariant,
): SagaPlan {
  const { name, connections, processes, ...shape } = variant
  const asked = fixture.servers.slice(0, processes)
  const [first = fixture.servers[0]] = asked
  const job = sagaJob(
    first.url,
    { branchUrl: fixture.branch.url, ...shape },
    connections,
    toTimedLength(settings),
  )
  const path = new URL(String(job.url)).pathname
  return {
    name,
    variant,
    job: { ...job, url: asked.map(({ url }) => `${url}${path}`) },
    workers: [together(asked), fixture.branch.child, ...databaseWorker(fixture.host)],
  }
}

/** Throws unless the store holds as many succeeded sagas as were answered, and the branches had a call for each action. */
export async function auditSagas(
  { servers, branch }: SagaFixture,
  plans: readonly SagaPlan[],
  rows: readonly Row[],
): Promise<{ readonly answers: number; readonly stored: number; readonly branchCalls: number }> {
  let answers = 0
  let callsExpected = 0
  for (const [index, { variant }] of plans.entries()) {
    const row = rows[index]
    if (row?.name !== variant.name) throw new Error(`${variant.name} was not measured`)
    answers += row.answers
    callsExpected += variant.isEmpty ? 0 : row.answers * variant.branches
  }
  const [server] = servers
  const stored = await countStored(server.url)
  const branchCalls = await branch.callCount()
  checkEqual({ answers, stored })
  checkEqual({ callsExpected, branchCalls })
  return { answers, stored, branchCalls }
}

/** A plan whose fixture has no other. */
export interface OpenedRow {
  readonly fixture: SagaFixture
  readonly plan: SagaPlan
}

/** Audits fixtures of one plan each, and returns the sums. Throws as `auditSagas` does. */
export async function auditOpenedRows(opened: readonly OpenedRow[], rows: readonly Row[]) {
  const sums = { answers: 0, stored: 0, branchCalls: 0 }
  for (const { fixture, plan } of opened) {
    const counted = await auditSagas(fixture, [plan], [rowNamed(rows, plan.name)])
    sums.answers += counted.answers
    sums.stored += counted.stored
    sums.branchCalls += counted.branchCalls
  }
  return sums
}

function together(servers: readonly Server[]): Worker {
  return {
    name: 'servers',
    cpuSeconds: () => {
      let sum = 0
      for (const { child } of servers) {
        const seconds = child.cpuSeconds()
        if (seconds === undefined) return undefined
        sum += seconds
      }
      return sum
    },
  }
}
