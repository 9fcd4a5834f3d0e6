import { seedRatios } from '../seeds/seeds.ts'
import type { RatioBar } from './charts/ratio-bars.ts'
import type { Report } from './report.ts'

/** The ratios of a report, each with what others have for it. */
export function barsOf({ scenario, store, ratioSpreads }: Report): readonly RatioBar[] {
  const seeds = (seedRatios[scenario] ?? []).filter(
    (seed) => seed.store === undefined || seed.store === store?.name,
  )
  return Object.entries(ratioSpreads).map(([name, { spread }]) => ({
    name,
    spread,
    seeds: seeds.filter((seed) => seed.name === name),
  }))
}
