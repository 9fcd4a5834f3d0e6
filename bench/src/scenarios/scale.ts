import { availableParallelism } from 'node:os'
import { checkEqual } from '../check-counts.ts'
import { readMetrics } from '../harness/metrics.ts'
import { runRounds } from '../rounds.ts'
import { type Ratio, type Row, toRatio } from '../row.ts'
import type { Scenario, ScenarioContext } from '../scenario.ts'
import { toSpread } from '../spread.ts'
import { openStoreHost, toStoreFacts } from '../stores/open-store-host.ts'
import type { StoreHost } from '../stores/store-host.ts'
import { succeededIn } from '../watch-end.ts'
import { type SagaFixture, type SagaPlan, type SagaVariant, sagaPlan } from './saga-fixture.ts'
import { openFullFixture, openProcesses, openSharedFixture } from './scale/scale-fixtures.ts'

const SOME_ROWS = 100_000
const BRANCHES = [1, 2, 5, 20]
const CONNECTIONS = [1, 8, 64, 256]
const PROCESSES = [1, 2]

type Dimension = 'finished rows' | 'branches' | 'connections' | 'servers' | 'processes'

interface ScalePlan extends SagaPlan {
  readonly fixture: SagaFixture
  readonly dimension: Dimension
  readonly size: number
}

export const scale: Scenario = {
  name: 'scale',
  summary:
    'cost of a saga by finished rows in its table, branches, connections, servers on one store, processes of one server; takes minutes',
  // Sixteen rows.
  defaults: { seconds: 1, warmUpSeconds: 0.4 },
  async run(context) {
    const host = await openStoreHost(context.harness, context.settings.store)
    const plans = await makePlans(context, host)
    const rows = await runRounds(context, plans)
    context.progress.show('counting')
    const [first] = plans
    if (first === undefined) throw new Error('there is no row')
    return {
      store: toStoreFacts(host, first.fixture.servers[0]),
      rows,
      ratios: toRatios(plans, rows),
      counters: await audit(plans, rows),
      notes: [
        'cost of a saga: rate of the first divided by that of the other; of a branch: the same for the branches of a saga',
        'finished rows: what is in the table before the first round; copies of one transaction that ran',
        host.voidsLeasesAtOpen
          ? 'servers: a file of SQLite is one server’s alone, and one process’s'
          : `servers: each has a port; processes: one server with --processes; this machine has ${availableParallelism()} cores, which the load, the branches and the store use too`,
      ],
    }
  },
}

async function makePlans(context: ScenarioContext, host: StoreHost): Promise<readonly ScalePlan[]> {
  const { branches, connections, rows } = context.settings
  const plans: ScalePlan[] = []
  const add = (fixture: SagaFixture, dimension: Dimension, size: number, variant: Partial<SagaVariant>) => {
    const name = `${dimension}: ${size}`
    const plan = sagaPlan(fixture, context, { name, branches, connections, ...variant })
    plans.push({ ...plan, fixture, dimension, size })
  }
  for (const size of new Set([0, Math.min(SOME_ROWS, rows), rows])) {
    add(await openFullFixture(context, host, size), 'finished rows', size, {})
  }
  const { fixture, processes } = await openSharedFixture(context, host)
  for (const size of BRANCHES) add(fixture, 'branches', size, { branches: size, processes: 1 })
  for (const size of CONNECTIONS) add(fixture, 'connections', size, { connections: size, processes: 1 })
  for (const size of processes) add(fixture, 'servers', size, { processes: size })
  if (!host.voidsLeasesAtOpen) {
    for (const size of PROCESSES) add(await openProcesses(context, host, size), 'processes', size, {})
  }
  return plans
}

function toRatios(plans: readonly ScalePlan[], rows: readonly Row[]): readonly Ratio[] {
  return plans.flatMap(({ dimension, size }, index) => {
    const first = plans.findIndex((plan) => plan.dimension === dimension)
    const [base, row, from] = [rows[first], rows[index], plans[first]?.size]
    if (base === undefined || row === undefined || from === undefined || index === first) return []
    return dimension === 'branches'
      ? [dividedBy(toRatio(`cost of a branch, ${size}/${from} ${dimension}`, base, row), size / from)]
      : [toRatio(`cost of a saga, ${size}/${from} ${dimension}`, base, row)]
  })
}

function dividedBy({ name, spread, byCpu, byWrk }: Ratio, divisor: number): Ratio {
  const divide = (rounds: readonly number[]) => toSpread(rounds.map((each) => each / divisor))
  return {
    name,
    spread: divide(spread.rounds),
    ...(byCpu === undefined ? {} : { byCpu: divide(byCpu.rounds) }),
    ...(byWrk === undefined ? {} : { byWrk: divide(byWrk.rounds) }),
  }
}

/** The audit uses the servers' own counters: a list of a million would take longer than the measurement. */
async function audit(
  plans: readonly ScalePlan[],
  rows: readonly Row[],
): Promise<Readonly<Record<string, number>>> {
  const counters = { answers: 0, ended: 0, branchCalls: 0 }
  for (const fixture of new Set(plans.map((plan) => plan.fixture))) {
    let answers = 0
    let callsExpected = 0
    for (const [index, plan] of plans.entries()) {
      const row = rows[index]
      if (plan.fixture !== fixture || row === undefined) continue
      answers += row.answers
      callsExpected += row.answers * plan.variant.branches
    }
    let ended = 0
    for (const { url } of fixture.servers) ended += succeededIn(await readMetrics(url))
    const branchCalls = await fixture.branch.callCount()
    checkEqual({ answers, ended })
    checkEqual({ callsExpected, branchCalls })
    counters.answers += answers
    counters.ended += ended
    counters.branchCalls += branchCalls
  }
  return counters
}
