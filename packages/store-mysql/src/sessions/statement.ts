import { assert } from '@counterstep/core'
import { literal, type Value } from './literal.ts'

/** A statement's text between its placeholders. */
export type Chunks = readonly string[]

/** A statement with a group that is repeated for each row. In its file the group stands between `rows SEPARATOR` and `end` comments. */
export interface RowsStatement {
  readonly head: Chunks
  readonly row: Chunks
  readonly separator: string
  readonly tail: Chunks
}

const ROWS = /^(.*)\/\*rows (.+?)\*\/(.*)\/\*end\*\/(.*)$/s

export function joinRows(separator: string, rows: readonly string[]): string {
  assert(rows.length > 0, 'a statement for no rows')
  return rows.join(separator)
}

/**
 * Divides the rows, in their order, into as few groups as possible of at most `bytesMax` each. A larger row is a group of
 * its own. Without a bound no bytes are counted.
 */
export function groupRows<Row>(
  rows: readonly Row[],
  countBytes: (row: Row) => number,
  bytesMax: number,
): readonly (readonly Row[])[] {
  if (bytesMax === Number.POSITIVE_INFINITY) return [rows]
  const groups: Row[][] = []
  let left = 0
  for (const row of rows) {
    const bytes = countBytes(row)
    const group = groups.at(-1)
    if (group !== undefined && bytes <= left) group.push(row)
    else {
      groups.push([row])
      left = bytesMax
    }
    left -= bytes
  }
  return groups
}

export function parseStatement(sql: string): Chunks {
  return sql.split('?')
}

export function parseRowsStatement(sql: string): RowsStatement {
  const [, head, separator, row, tail] = ROWS.exec(sql) ?? []
  if (head === undefined || separator === undefined || row === undefined || tail === undefined) {
    throw new Error(`no repeated group: ${sql}`)
  }
  return {
    head: parseStatement(head),
    separator: ` ${separator} `,
    row: parseStatement(row),
    tail: parseStatement(tail),
  }
}

export function fill(chunks: Chunks, values: readonly Value[]): string {
  return weave(chunks, values.map(literal))
}

/** Fills the placeholders with literals that were written before. */
export function weave(chunks: Chunks, literals: readonly string[]): string {
  assert(literals.length === chunks.length - 1, 'a statement with more or fewer values than placeholders')
  let sql = chunks[0] ?? ''
  for (let i = 0; i < literals.length; i++) sql += `${literals[i]}${chunks[i + 1]}`
  return sql
}

export function fillRows(
  { head, separator, tail }: RowsStatement,
  rows: readonly string[],
  tailValues: readonly Value[] = [],
): string {
  return `${fill(head, [])}${joinRows(separator, rows)}${fill(tail, tailValues)}`
}
