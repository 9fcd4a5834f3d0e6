import type { Row } from '../row.ts'
import type { Table } from '../scenario.ts'
import type { Spread } from '../spread.ts'
import { FLUSHES, MEMORY, STORE_MEMORY, toRowName } from './engine-rows.ts'
import { ENGINES } from './engines.ts'

const HEADS = [
  'engine',
  'callers',
  'sagas/s (range)',
  'p50 ms',
  'p99 ms',
  'CPU µs: engine + database',
  'flushes',
  'memory MB: engine + database',
]

/** Tells the figures of all engines for readers, the fastest first, those with one caller last. */
export function peersTable(rows: readonly Row[], callers: readonly number[]): Table {
  const lines = callers.flatMap((count) =>
    ENGINES.flatMap(({ name, title }) => {
      const row = rows.find((each) => each.name === toRowName(name, count))
      return row === undefined ? [] : [{ title, count, row }]
    }).sort((one, other) => other.row.perSecond.median - one.row.perSecond.median),
  )
  return [HEADS, ...lines.map(({ title, count, row }) => toCells(title, count, row))]
}

/** The rows have so many callers, and one. */
export function listCallers(connections: number): readonly number[] {
  return [...new Set([connections, 1])]
}

function toCells(title: string, callers: number, { perSecond, p50Ms, p99Ms, cpuUs, figures }: Row): string[] {
  return [
    title,
    String(callers),
    `${toCount(perSecond.median)} (${toCount(perSecond.min)} to ${toCount(perSecond.max)})`,
    toFixed(p50Ms, 2),
    toFixed(p99Ms, 1),
    toSum(cpuUs?.asked, figures['store CPU µs']),
    toFixed(figures[FLUSHES], 2),
    toSum(figures[MEMORY], figures[STORE_MEMORY]),
  ]
}

/** Shows what an engine takes and, where it has a database, what that takes. */
function toSum(engine: Spread | undefined, database: Spread | undefined): string {
  return [toFixed(engine, 0), ...(database === undefined ? [] : [toFixed(database, 0)])].join(' + ')
}

function toCount(value: number): string {
  return Math.round(value).toLocaleString('en')
}

function toFixed(spread: Spread | null | undefined, digits: number): string {
  return spread?.median.toFixed(digits) ?? '–'
}
