import { AssertionError } from '@counterstep/core'
import { COLUMNS, STATEMENTS } from '../generated/sql.ts'
import { textOf } from '../reads/stored-row.ts'
import { SqlError } from '../sessions/server-errors.ts'
import type { Row } from '../sessions/session.ts'
import { fill, rowsStatementOf } from '../sessions/statement.ts'
import type { Answer } from '../transactions/transaction-protocol.ts'
import type { Tx } from '../transactions/database-transactions.ts'
import type { PendingUpdate } from './pending-writes.ts'
import type { Settlement } from './settlement.ts'
import { updateStatements } from './write-statements.ts'

const READ_KEYS = rowsStatementOf(STATEMENTS.readKeys)
const KEYS = COLUMNS.readKeys

/** Updates the rows in few statements, whose count proves the common case: all of them were as their writers knew them. */
export async function updateRows(tx: Tx, updates: readonly PendingUpdate[]): Promise<readonly Settlement[]> {
  if (updates.length === 0) return []
  try {
    const statements = updateStatements(updates, tx.session.rowBytesMax).map(({ sql }) => sql)
    const changed = sumOfChanges(await tx.runNow(statements))
    return changed < updates.length ? await settleByRow(tx, updates) : savedAll(updates, tx.now)
  } catch (error: unknown) {
    if (!(error instanceof SqlError) || error.fault !== 'row') throw error
    return updateHalves(tx, updates, error)
  }
}

/** How many rows they have changed together; one that reads changes none. */
function sumOfChanges(answers: readonly Answer[]): number {
  return answers.reduce<number>((sum, answer) => sum + (typeof answer === 'number' ? answer : 0), 0)
}

export function savedAll(updates: readonly PendingUpdate[], now: number): readonly Settlement[] {
  return updates.map(
    (update) => () => update.resolve({ type: 'saved', version: nextVersion(update, now), now }),
  )
}

/** As update.sql computes it. A version that was lost with the server's tail is not issued again. */
function nextVersion({ version }: PendingUpdate, now: number): number {
  return Math.max(version + 1, now)
}

/** Under lock and before the COMMIT, so that what is read is what this database transaction leaves, and is on the disk. */
async function settleByRow(tx: Tx, updates: readonly PendingUpdate[]): Promise<readonly Settlement[]> {
  const gids = updates.map(({ gid }) => fill(READ_KEYS.row, [gid]))
  const rows = await tx.session.allRows(READ_KEYS, gids)
  const byGid = new Map(rows.map((row) => [textOf(row[KEYS.gid]), row]))
  return updates.map((update) => settleOne(update, byGid.get(update.gid), tx.now))
}

function settleOne(update: PendingUpdate, row: Row | undefined, now: number): Settlement {
  if (row === undefined) return () => update.resolve({ type: 'absent' })
  if (textOf(row[KEYS.token]) !== update.token) return () => update.resolve({ type: 'fenced' })
  const version = Number(row[KEYS.version])
  // Mine: by this statement, or by the same write sent before.
  if (textOf(row[KEYS.writeId]) === update.writeId)
    return () => update.resolve({ type: 'saved', version, now })
  if (version === update.version && row[KEYS.live] === 1) {
    // It was changed into this between the two statements; a second try will match it.
    throw new SqlError('repeat', 'a row changed while it was updated')
  }
  return () => update.resolve({ type: 'conflict', version })
}

/** A bad row fails alone: the halves that do not hold it are written. */
async function updateHalves(
  tx: Tx,
  updates: readonly PendingUpdate[],
  error: SqlError,
): Promise<readonly Settlement[]> {
  const [only, ...more] = updates
  if (only === undefined || more.length === 0) {
    return [() => only?.reject(new AssertionError(`a row that cannot be written: ${error.message}`))]
  }
  const middle = Math.ceil(updates.length / 2)
  const left = await updateRows(tx, updates.slice(0, middle))
  return [...left, ...(await updateRows(tx, updates.slice(middle)))]
}
