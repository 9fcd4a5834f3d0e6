import type { Scenario } from './scenario.ts'
import { hotRow } from './scenarios/hot-row.ts'
import { latency } from './scenarios/latency.ts'
import { memory } from './scenarios/memory.ts'
import { recover } from './scenarios/recover.ts'
import { saga } from './scenarios/saga.ts'
import { sagaBranches } from './scenarios/saga-branches.ts'
import { sagaConnections } from './scenarios/saga-connections.ts'
import { sagaEmpty } from './scenarios/saga-empty.ts'
import { submit } from './scenarios/submit.ts'
import { transfer } from './scenarios/transfer.ts'
import { twoWritesBaseline } from './scenarios/two-writes-baseline.ts'
import { DEFAULT_SETTINGS, type Settings } from './settings.ts'
import { STORES, type StoreName } from './stores/store-names.ts'

export interface Headline {
  readonly scenario: Scenario
  readonly store: StoreName
}

const SQL_STORES: readonly StoreName[] = ['mysql', 'mariadb', 'mysql9']

/** The stores that each scenario can run on, and those that it runs on by default. */
const HEADLINES: readonly (readonly [
  scenario: Scenario,
  stores: readonly StoreName[],
  by: readonly StoreName[],
])[] = [
  [saga, STORES, ['sqlite', 'mysql', 'redis']],
  [twoWritesBaseline, STORES, ['sqlite', 'mysql', 'redis']],
  [sagaConnections, STORES, []],
  [sagaBranches, STORES, []],
  [latency, SQL_STORES, []],
  [sagaEmpty, ['redis'], []],
  [submit, STORES, []],
  [transfer, SQL_STORES, []],
  [hotRow, SQL_STORES, []],
  [recover, STORES, []],
  [memory, STORES, []],
]

/** If a store is given, a scenario that cannot run on it runs on its own default. */
export function headlinesOn(given: Partial<Settings>): readonly Headline[] {
  return HEADLINES.flatMap(([scenario, possible, by]) => {
    const own = scenario.defaults?.store ?? DEFAULT_SETTINGS.store
    if (given.store === undefined) return (by.length === 0 ? [own] : by).map((store) => ({ scenario, store }))
    return [{ scenario, store: possible.includes(given.store) ? given.store : own }]
  })
}
