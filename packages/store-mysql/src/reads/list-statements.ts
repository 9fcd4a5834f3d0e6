import type { ListOrder } from '@counterstep/core'
import { STATEMENTS } from '../generated/sql.ts'
import type { Value } from '../sessions/literal.ts'
import { fill, parseStatement } from '../sessions/statement.ts'

/** A part of a statement with its values. */
export interface Part {
  readonly sql: string
  readonly values: readonly Value[]
}

/** Bounds the rows of a page before they are filtered. */
export interface Scan {
  readonly order: ListOrder
  /** The index of the tags is a table of its own, and the others are indexes of the rows. */
  readonly index: 'counterstep_created' | 'counterstep_due' | 'counterstep_gid' | 'counterstep_tags'
  readonly ranges: readonly Part[]
}

const ORDER_BY: Readonly<Record<ListOrder, string>> = {
  created: 'created_at DESC, gid DESC',
  due: 'due_at, gid',
  'due-last': 'due_at DESC, gid DESC',
}

/** Writes the statement that reads a page. */
export function writeList(
  scan: Scan,
  filters: readonly Part[],
  scanRowsMax: number,
  rowsMax: number,
): string {
  const sql = scan.index === 'counterstep_tags' ? STATEMENTS.listTagged : STATEMENTS.list
  return write(sql, scan, filters, [...listValues(scan.ranges), scanRowsMax, ...listValues(filters), rowsMax])
}

/** Writes the statement that reads the row at this place of the scan, and the next one. */
export function writeListScanEnd(scan: Scan, place: number): string {
  const sql = scan.index === 'counterstep_tags' ? STATEMENTS.listTaggedScanEnd : STATEMENTS.listScanEnd
  return write(sql, scan, [], [...listValues(scan.ranges), place])
}

function write(
  sql: string,
  { order, index, ranges }: Scan,
  filters: readonly Part[],
  values: readonly Value[],
): string {
  const text = sql
    .replace('/*index*/', index)
    .replace('/*range*/', join(ranges))
    .replace('/*filters*/', join(filters))
    .replaceAll('/*order*/', ORDER_BY[order])
  return fill(parseStatement(text), values)
}

function join(parts: readonly Part[]): string {
  return parts.length === 0 ? 'TRUE' : parts.map(({ sql }) => sql).join(' AND ')
}

function listValues(parts: readonly Part[]): readonly Value[] {
  return parts.flatMap(({ values }) => values)
}
