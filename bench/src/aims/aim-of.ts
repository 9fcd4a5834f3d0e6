import type { Report } from '../report/report.ts'
import { AIMS, type Aim } from './aims.ts'

/** Undefined where the project wants nothing of this ratio, or of one that was measured so. */
export function aimOf({ scenario, store, settings }: Report, name: string): Aim | undefined {
  return AIMS[scenario]?.find(
    (aim) =>
      aim.name === name &&
      (aim.store === undefined || aim.store === store?.name) &&
      (aim.connections === undefined || aim.connections === settings.connections) &&
      (aim.branches === undefined || aim.branches === settings.branches),
  )
}

function isReached({ is, value }: Aim, median: number): boolean {
  return is === 'at least' ? median >= value : median <= value
}

/** For a line or a cell beside the median. */
export function aimWords(aim: Aim, median: number): string {
  const wanted = `aim: ${aim.is} ${aim.value}`
  if (isReached(aim, median)) return `${wanted}, reached`
  const byHand = aim.byHand === undefined ? '' : `; by hand ${aim.byHand}`
  return `${wanted}, not reached${byHand} (bench/README.md, “What was reached”)`
}
