import type { CurvePoint } from './load/load-job.ts'
import { type Spread, toSpread } from './spread.ts'
import { WRK_RATE } from './wrk/wrk-rate.ts'

export interface Row {
  readonly name: string
  /** Rows of a group have pictures of their own; absent where all rows can be compared. */
  readonly group?: string
  readonly perSecond: Spread
  /** Null where no client waits for an answer. */
  readonly p50Ms: Spread | null
  readonly p99Ms: Spread | null
  /** Each share of the answers with its median over the rounds; absent where it is not known. */
  readonly latencyCurve?: readonly CurvePoint[]
  /** CPU time for one answer, in microseconds; null where the system does not tell. */
  readonly cpuUs: { readonly asked: Spread; readonly everything: Spread } | null
  /** The answers of all rounds, with warm-up and drain. */
  readonly answers: number
  /** Whatever else a scenario measures for this row, by name, with its unit in the name. */
  readonly figures: Readonly<Record<string, Spread>>
}

export interface Ratio {
  readonly name: string
  readonly spread: Spread
  /** The same by CPU time alone, where it is known. */
  readonly byCpu?: Spread
  /** The same by what wrk measured, where it measured both rows. */
  readonly byWrk?: Spread
}

/** Throws where there is none. */
export function rowNamed(rows: readonly Row[], name: string): Row {
  const row = rows.find((each) => each.name === name)
  if (row === undefined) throw new Error(`${name} was not measured`)
  return row
}

/** The figures of one round after the other, by name. */
export function toFigures(rounds: readonly Readonly<Record<string, number>>[]): Row['figures'] {
  const names = new Set(rounds.flatMap((figures) => Object.keys(figures)))
  return Object.fromEntries(
    [...names].map((name) => [name, toSpread(rounds.map((figures) => figures[name] ?? Number.NaN))]),
  )
}

/** Round by round, since neighbours in time share the machine's mood. */
export function toRatio(name: string, above: Row, below: Row): Ratio {
  const byCpu = toCpuRatio(above, below)
  const byWrk = toWrkRatio(above, below)
  return {
    name,
    spread: divideSpreads(above.perSecond, below.perSecond),
    ...(byCpu === undefined ? {} : { byCpu }),
    ...(byWrk === undefined ? {} : { byWrk }),
  }
}

export function divideSpreads(above: Spread, below: Spread): Spread {
  return toSpread(above.rounds.map((value, round) => value / (below.rounds[round] ?? Number.NaN)))
}

/** The ratio if only CPU time counted; other work on the machine disturbs it much less. */
function toCpuRatio(above: Row, below: Row): Spread | undefined {
  if (above.cpuUs === null || below.cpuUs === null) return undefined
  return divideSpreads(below.cpuUs.everything, above.cpuUs.everything)
}

function toWrkRatio(above: Row, below: Row): Spread | undefined {
  const [ours, theirs] = [above.figures[WRK_RATE], below.figures[WRK_RATE]]
  return ours === undefined || theirs === undefined ? undefined : divideSpreads(ours, theirs)
}

/** Point by point the median of the rounds; nothing where a round has no curve. */
export function toCurve(rounds: readonly (readonly CurvePoint[] | undefined)[]): Pick<Row, 'latencyCurve'> {
  const curves = rounds.filter((curve) => curve !== undefined)
  const [first] = curves
  if (first === undefined || curves.length < rounds.length) return {}
  const msAt = (index: number) => toSpread(curves.map((curve) => curve[index]?.ms ?? Number.NaN)).median
  return { latencyCurve: first.map(({ share }, index) => ({ share, ms: msAt(index) })) }
}
