import { runRounds } from '../rounds.ts'
import { divideSpreads, type Ratio, type Row } from '../row.ts'
import type { Scenario } from '../scenario.ts'
import { openStoreHost, toStoreFacts } from '../stores/open-store-host.ts'
import { auditSagas, openSagaFixture, type SagaPlan, type SagaVariant, sagaPlan } from './saga-fixture.ts'

const BRANCHES = [1, 2, 5, 20]
const ORDERS = [
  { order: 'one after the other', isParallel: false },
  { order: 'at once', isParallel: true },
]
const BRANCH_RATE = 'branches/s'

export const sagaBranches: Scenario = {
  name: 'saga-branches',
  summary: `sagas of ${BRANCHES.join(', ')} branches, one after the other and all at once`,
  // Eight rows within a minute.
  defaults: { seconds: 1, warmUpSeconds: 0.4 },
  async run(context) {
    const { harness, settings, progress } = context
    const host = await openStoreHost(harness, settings.store)
    const fixture = await openSagaFixture(context, host, await host.newDatabase())
    const plans = branchVariants(settings.connections).map((variant) => sagaPlan(fixture, context, variant))
    const rows = (await runRounds(context, plans)).map((row, index) =>
      withBranchRate(row, plans[index]?.variant.branches ?? Number.NaN),
    )
    progress.show('counting what is stored')
    return {
      store: toStoreFacts(host, fixture.servers[0]),
      rows,
      ratios: branchRatios(plans, rows),
      counters: await auditSagas(fixture, plans, rows),
      notes: [`20-branches/2-branches: ${BRANCH_RATE} of sagas with 20 branches to that of sagas with 2`],
    }
  },
}

export function branchVariants(connections: number): readonly SagaVariant[] {
  return ORDERS.flatMap(({ order, isParallel }) =>
    // A single branch has no order.
    BRANCHES.filter((branches) => branches > 1 || !isParallel).map((branches) => ({
      name: branches === 1 ? '1 branch' : `${branches} branches, ${order}`,
      connections,
      branches,
      isParallel,
    })),
  )
}

/** Sagas a second times their branches. */
export function withBranchRate(row: Row, branches: number): Row {
  const { rounds, median, min, max } = row.perSecond
  const rate = {
    median: median * branches,
    min: min * branches,
    max: max * branches,
    rounds: rounds.map((each) => each * branches),
  }
  return { ...row, figures: { ...row.figures, [BRANCH_RATE]: rate } }
}

export function branchRatios(plans: readonly SagaPlan[], rows: readonly Row[]): readonly Ratio[] {
  const readRate = (branches: number, isParallel: boolean) => {
    const at = plans.findIndex(
      ({ variant }) => variant.branches === branches && variant.isParallel === isParallel,
    )
    const rate = rows[at]?.figures[BRANCH_RATE]
    if (rate === undefined) throw new Error(`${branches} branches were not measured`)
    return rate
  }
  const serial = (branches: number) => readRate(branches, false)
  return [
    { name: '20-branches/2-branches', spread: divideSpreads(serial(20), serial(2)) },
    ...[2, 5, 20].map((branches) => ({
      name: `at once/one after the other, ${branches} branches`,
      spread: divideSpreads(readRate(branches, true), serial(branches)),
    })),
  ]
}
