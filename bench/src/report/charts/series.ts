import type { Row } from '../../row.ts'

/** Rows that measure one thing along a number: of callers, of connections, of branches. */
export interface Series {
  readonly name: string
  readonly points: readonly SeriesPoint[]
}

export interface SeriesPoint {
  readonly x: number
  readonly row: Row
}

/** Series along the same number, which can share a picture. */
export interface SeriesGroup {
  readonly unit: string
  readonly series: readonly Series[]
}

const POINTS_MIN = 3
/** A name like `grouped, 64 callers`: the kind, a number, a unit. Words that follow belong to the kind. */
const NAME =
  /^(?<before>.*?)(?<number>\d[\d,_]*) (?<unit>callers?|connections?|branch(?:es)?|rows?|process(?:es)?|servers?|transactions?)\b(?<after>.*)$/

/** `connections: 64`: of what, a number. */
const UNIT_FIRST = /^(?<unit>[a-z][a-z ]*): (?<number>\d[\d,_]*)$/

export function groupSeries(rows: readonly Row[]): readonly SeriesGroup[] {
  const groups = new Map<string, Map<string, SeriesPoint[]>>()
  for (const row of rows) {
    const {
      before = '',
      number = '',
      unit = '',
      after = '',
    } = (UNIT_FIRST.exec(row.name) ?? NAME.exec(row.name))?.groups ?? {}
    if (unit === '') continue
    const units = toPlural(unit)
    const what = [before, after]
      .map((part) => part.replaceAll(/^[, ]+|[, ]+$/g, ''))
      .filter((part) => part !== '')
      .join(', ')
    const group = groups.get(units) ?? new Map<string, SeriesPoint[]>()
    groups.set(units, group)
    const points = group.get(what) ?? []
    group.set(what, points)
    points.push({ x: Number(number.replaceAll(/[,_]/g, '')), row })
  }
  return [...groups].flatMap(([unit, group]) => {
    const series = [...group].flatMap(([name, points]) =>
      points.length < POINTS_MIN ? [] : [{ name, points: points.toSorted((one, other) => one.x - other.x) }],
    )
    return series.length === 0 ? [] : [{ unit, series }]
  })
}

/** Returns `callers` for `caller` and for `callers`. */
function toPlural(unit: string): string {
  if (/[^s]s$/.test(unit)) return unit
  return /(?:ch|ss)$/.test(unit) ? `${unit}es` : `${unit}s`
}
