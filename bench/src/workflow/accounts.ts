import { checkEqual } from '../check-counts.ts'
import { readRows } from '../stores/postgres-rows.ts'
import { toCents } from './move.ts'

/** Makes so many accounts of no cents. */
export async function createAccounts(url: string, accounts: number): Promise<void> {
  await readRows(
    url,
    'CREATE TABLE account (id integer PRIMARY KEY, cents bigint NOT NULL, moves integer NOT NULL)',
  )
  await readRows(url, 'INSERT INTO account SELECT id, 0, 0 FROM generate_series(1, $1::integer) AS id', [
    accounts,
  ])
  await readRows(url, 'VACUUM ANALYZE account')
}

/** Throws unless so many transfers have moved just what they should. Returns the moves. */
export async function auditAccounts(
  name: string,
  url: string,
  { transfers, steps }: { readonly transfers: number; readonly steps: number },
): Promise<number> {
  const [row] = await readRows(url, 'SELECT sum(moves) AS moves, sum(cents) AS cents FROM account')
  const moves = Number(row?.moves)
  const cents = Array.from({ length: steps }, (_, index) => toCents(index + 1)).reduce((a, b) => a + b, 0)
  checkEqual({ [`${name}: moves`]: moves, expected: transfers * steps })
  checkEqual({ [`${name}: cents`]: Number(row?.cents), expected: transfers * cents })
  return moves
}

export async function countRows(url: string, table: string): Promise<number> {
  const [row] = await readRows(url, `SELECT count(*) AS rows FROM ${table}`)
  return Number(row?.rows)
}
