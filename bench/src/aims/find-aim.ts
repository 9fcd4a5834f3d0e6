import type { Report } from '../report/report.ts'
import { AIMS, type Aim } from './aims.ts'

/** Undefined where the project wants nothing of this ratio, or of one that was measured so. */
export function findAim(report: Measured, name: string): Aim | undefined {
  return findAims(report).find((aim) => aim.name === name)
}

/** Throws for an aim of a ratio that its scenario does not have: one of the two was renamed. */
export function assertAimsHaveRatios(report: Measured): void {
  for (const { name, isOfPeer = false } of findAims(report)) {
    if (!isOfPeer && !(name in report.ratios))
      throw new Error(`${report.scenario} has an aim for ${name}, and no such ratio`)
  }
}

type Measured = Pick<Report, 'scenario' | 'store' | 'settings' | 'ratios'>

function findAims({ scenario, store, settings }: Measured): readonly Aim[] {
  return (AIMS[scenario] ?? []).filter(
    (aim) =>
      (aim.store === undefined || aim.store === store?.name) &&
      Object.entries(aim.settings).every(
        ([name, value]) => settings[name as keyof Aim['settings']] === value,
      ),
  )
}

function isReached({ is, value }: Aim, median: number): boolean {
  return is === 'at least' ? median >= value : median <= value
}

/** Words the aim for a line or a cell beside the median. */
export function aimWords(aim: Aim, median: number): string {
  const wanted = `aim: ${aim.is} ${aim.value}`
  if (isReached(aim, median)) return `${wanted}, reached`
  const byHand = aim.byHand === undefined ? '' : `; by hand ${aim.byHand}`
  return `${wanted}, not reached${byHand} (bench/RESULTS.md, “What was reached”)`
}
