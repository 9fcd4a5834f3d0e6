import { findAim } from '../aims/find-aim.ts'
import { type SeedRatio, seedRatios } from '../seeds/seeds.ts'
import type { RatioBar } from './charts/ratio-bars.ts'
import type { Report } from './report.ts'

/** The ratios of a report, each with what is wanted of it and what others have for it. */
export function toRatioBars(report: Report): readonly RatioBar[] {
  const { scenario, store, ratioSpreads } = report
  const seeds = (seedRatios[scenario] ?? []).filter(
    (seed) => seed.store === undefined || seed.store === store?.name,
  )
  return Object.entries(ratioSpreads).map(([name, { spread }]) => ({
    name,
    spread,
    seeds: [...aimBars(report, name), ...seeds.filter((seed) => seed.name === name)],
  }))
}

function aimBars(report: Report, name: string): readonly SeedRatio[] {
  const aim = findAim(report, name)
  if (aim === undefined) return []
  const wanted = { name, ratio: aim.value, source: `aim, ${aim.is}` }
  if (aim.byHand === undefined) return [wanted]
  return [wanted, { name, ratio: aim.byHand, source: 'a plain program by hand, 2 cores' }]
}
