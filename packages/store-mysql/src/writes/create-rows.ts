import { AssertionError, type CreateResult, statusOfCode } from '@counterstep/core'
import { COLUMNS, STATEMENTS } from '../generated/sql.ts'
import { textOf } from '../reads/stored-row.ts'
import { SqlError } from '../sessions/server-errors.ts'
import type { Row } from '../sessions/session.ts'
import { fill, fillRows, groupsWithin, rowsStatementOf } from '../sessions/statement.ts'
import type { Tx } from '../transactions/database-transactions.ts'
import { CREATE, type PendingCreate } from './pending-writes.ts'
import type { Settlement } from './settlement.ts'

const READ_EXISTING = rowsStatementOf(STATEMENTS.readExisting)
const EXISTING = COLUMNS.readExisting

/** Inserts the rows in one statement, or in as few as their bytes allow. What that cannot do for all of them at once it does for fewer. */
export async function createRows(tx: Tx, creates: readonly PendingCreate[]): Promise<readonly Settlement[]> {
  if (creates.length === 0) return []
  try {
    await tx.runNow(createStatements(creates, tx.session.rowBytesMax))
    return createdAll(creates, tx.now)
  } catch (error: unknown) {
    if (!(error instanceof SqlError)) throw error
    if (error.fault === 'duplicate') return createOthers(tx, creates, error)
    if (error.fault === 'row') return createHalves(tx, creates, error)
    throw error
  }
}

export function createStatements(
  creates: readonly PendingCreate[],
  bytesMax = Number.POSITIVE_INFINITY,
): readonly string[] {
  const rows = creates.map(({ sql }) => sql)
  return groupsWithin(rows, (row) => Buffer.byteLength(row), bytesMax).map((group) => fillRows(CREATE, group))
}

export function createdAll(creates: readonly PendingCreate[], now: number): readonly Settlement[] {
  return creates.map((create) => () => create.resolve({ type: 'created', createdAt: now, now }))
}

/** The refused insert has left a lock on the row that it met, so that row is committed and stays. */
async function createOthers(
  tx: Tx,
  creates: readonly PendingCreate[],
  error: SqlError,
): Promise<readonly Settlement[]> {
  const gids = creates.map(({ gid }) => fill(READ_EXISTING.row, [gid]))
  const rows = await tx.session.allRows(READ_EXISTING, gids)
  const existing = new Map(rows.map((row) => [textOf(row[EXISTING.gid]), row]))
  if (existing.size === 0) throw new SqlError('repeat', `a duplicate that is not there: ${error.message}`)
  const settlements = creates.flatMap((create) => {
    const row = existing.get(create.gid)
    return row === undefined ? [] : [settleExisting(create, row, tx.now)]
  })
  const others = creates.filter(({ gid }) => !existing.has(gid))
  return [...settlements, ...(await createRows(tx, others))]
}

function settleExisting(create: PendingCreate, row: Row, now: number): Settlement {
  const isMine =
    textOf(row[EXISTING.token]) === create.token && textOf(row[EXISTING.writeId]) === create.writeId
  const status = statusOfCode(row[EXISTING.status])
  if (!isMine && status === undefined) {
    return () => create.reject(new AssertionError(`${create.gid} exists with a status of a later version`))
  }
  const result: CreateResult =
    isMine || status === undefined
      ? { type: 'created', createdAt: Number(row[EXISTING.createdAt]), now }
      : { type: 'exists', digest: textOf(row[EXISTING.digest]), status, now }
  return () => create.resolve(result)
}

/** A bad row fails alone: the halves that do not hold it are written. */
async function createHalves(
  tx: Tx,
  creates: readonly PendingCreate[],
  error: SqlError,
): Promise<readonly Settlement[]> {
  const [only, ...more] = creates
  if (only === undefined || more.length === 0) {
    return [() => only?.reject(new AssertionError(`a row that cannot be written: ${error.message}`))]
  }
  const middle = Math.ceil(creates.length / 2)
  const left = await createRows(tx, creates.slice(0, middle))
  return [...left, ...(await createRows(tx, creates.slice(middle)))]
}
