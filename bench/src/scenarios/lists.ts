import { checkEqual } from '../check-counts.ts'
import type { divideSpreads, Row } from '../row.ts'
import type { Scenario } from '../scenario.ts'
import { toSpread } from '../spread.ts'
import { openStoreHost } from '../stores/open-store-host.ts'
import { RARE_TAGGED } from './lists/fill-rows.ts'
import { openFilledStore, type PageRounds, readPages } from './lists/list-pages.ts'

/** A page must not take longer than this. */
const PAGE_MS_MAX = 300

export const lists: Scenario = {
  name: 'lists',
  summary:
    'a page of each filter of the list, beside many finished transactions and a twentieth as many unfinished ones',
  async run({ harness, settings, progress }) {
    const host = await openStoreHost(harness, settings.store)
    const { environment } = await host.newDatabase()
    const { store, filled } = await openFilledStore(environment, settings.rows, (rows) =>
      progress.show(`${rows} rows are in the store`),
    )
    harness.atEnd(() => store.close())
    const { rounds, rareRows, rarePages } = await readPages(store, settings.rounds, (what) =>
      progress.show(what),
    )
    checkEqual({ tagged: RARE_TAGGED, found: rareRows })
    const rows = rounds.map(toRow)
    return {
      store: {
        name: store.name,
        durabilityClass: store.durabilityClass,
        failover: store.failover,
        software: host.software,
      },
      rows,
      ratios: [{ name: 'slowest page/300 ms', spread: toSlowest(rows) }],
      counters: { ...filled, rareRows, rarePages },
      notes: [
        `${filled.finished} finished and ${filled.live} unfinished transactions, one among twenty, stored by the store's own calls; the store is asked in this process`,
        'p50 is the median of the rounds, p99 the slowest of them; rows: of the first page of 50',
        `the ${RARE_TAGGED} oldest transactions have a tag of their own, and are found on ${rarePages} page(s)`,
      ],
    }
  },
}

function toRow({ name, ms, rows }: PageRounds): Row {
  const spread = toSpread(ms)
  return {
    name,
    perSecond: toSpread(ms.map((each) => 1_000 / each)),
    p50Ms: spread,
    p99Ms: toSpread([spread.max]),
    cpuUs: null,
    answers: ms.length,
    figures: { rows: toSpread(rows) },
  }
}

/** The median page of the slowest filter, as a share of the bound. */
function toSlowest(rows: readonly Row[]): ReturnType<typeof divideSpreads> {
  const slowest = rows.reduce((worst, row) =>
    (row.p50Ms?.median ?? 0) > (worst.p50Ms?.median ?? 0) ? row : worst,
  )
  return toSpread((slowest.p50Ms?.rounds ?? []).map((ms) => ms / PAGE_MS_MAX))
}
