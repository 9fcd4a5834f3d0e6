import { AssertionError, type CreateResult, toStatus } from '@counterstep/core'
import { type Row, type Settlement, SqlError, toText } from '@counterstep/store-sql'
import { COLUMNS, STATEMENTS } from '../generated/sql.ts'
import { fill, parseRowsStatement } from '../sessions/statement.ts'
import type { DatabaseTransactions } from '../transactions/database-transactions.ts'
import { ensureOwnRedo } from '../transactions/own-redo.ts'
import type { Answer, AtOnce, Tx } from '../transactions/transaction-protocol.ts'
import type { PendingCreate, PendingUpdate, PendingWrite } from './pending-writes.ts'
import { writeInserts, writeTagInserts, writeUpdates } from './write-statements.ts'

const READ_EXISTING = parseRowsStatement(STATEMENTS.readExisting)
const EXISTING = COLUMNS.readExisting
const READ_KEYS = parseRowsStatement(STATEMENTS.readKeys)
const KEYS = COLUMNS.readKeys

/** A server answers a packet only when it has received all of it. */
const AT_ONCE_LENGTH_MAX = 256 * 1024

/**
 * Writes one flush as one database transaction: its updates, then its creates, each in the order of the keys, which is
 * also the order of its locks. The common flush is one packet. If one of its rows prevents that, the statements follow
 * one after the other, and the answer of each decides the next.
 */
export function writeBatch(
  transactions: DatabaseTransactions,
  writes: readonly PendingWrite[],
): Promise<readonly Settlement[]> {
  const creates = writes.filter((write): write is PendingCreate => write.type === 'create')
  const updates = writes.filter((write): write is PendingUpdate => write.type === 'update')
  // A write that is alone tries a lock again. One with neighbours is first separated from them, so that they go on.
  const lockWaitRepeats = writes.length === 1 ? 1 : 0
  const work = async (tx: Tx) => {
    const settlements = [...(await updateRows(tx, updates)), ...(await createRows(tx, creates))]
    await ensureOwnRedo(tx)
    return { value: settlements, rows: writes.length }
  }
  const length = writes.reduce((sum, write) => sum + write.length, 0)
  const atOnce = length > AT_ONCE_LENGTH_MAX ? undefined : toAtOnce(creates, updates)
  return transactions.run(work, { lockWaitRepeats, atOnce })
}

/** Writes the flush as one packet. It needs no redo of its own: it changes rows, so its COMMIT waits for the disk. */
function toAtOnce(
  creates: readonly PendingCreate[],
  updates: readonly PendingUpdate[],
): AtOnce<readonly Settlement[]> {
  const inserts =
    creates.length === 0 ? [] : writeInserts(creates).map((sql) => ({ sql, changes: creates.length }))
  // The table of the tags numbers no rows, so that the server still has the instant after these.
  const tagInserts = writeTagInserts(creates).map((sql) => ({ sql }))
  return {
    statements: [...writeUpdates(updates), ...tagInserts, ...inserts],
    toWork: (now) => ({
      value: [...settleCreated(creates, now), ...settleSaved(updates, now)],
      rows: creates.length + updates.length,
    }),
  }
}

/** Inserts the rows in one statement, or in as few as their bytes allow. If a row prevents that, it inserts fewer at a time. */
async function createRows(tx: Tx, creates: readonly PendingCreate[]): Promise<readonly Settlement[]> {
  if (creates.length === 0) return []
  try {
    await tx.runNow(writeInserts(creates, tx.session.rowBytesMax))
    await enterTags(tx, creates)
    return settleCreated(creates, tx.now)
  } catch (error: unknown) {
    if (!(error instanceof SqlError)) throw error
    if (error.fault === 'duplicate') return createOthers(tx, creates, error)
    if (error.fault === 'row') return writeHalves(creates, error, (half) => createRows(tx, half))
    throw error
  }
}

/** A row that was refused has no entries, so the rows come first. */
async function enterTags(tx: Tx, creates: readonly PendingCreate[]): Promise<void> {
  const statements = writeTagInserts(creates, tx.session.rowBytesMax)
  if (statements.length > 0) await tx.runNow(statements)
}

function settleCreated(creates: readonly PendingCreate[], now: number): readonly Settlement[] {
  return creates.map((create) => () => create.resolve({ type: 'created', createdAt: now, now }))
}

/** The refused insert has left a lock on the row that it met, so that row is committed and stays. */
async function createOthers(
  tx: Tx,
  creates: readonly PendingCreate[],
  error: SqlError,
): Promise<readonly Settlement[]> {
  const gids = creates.map(({ gid }) => fill(READ_EXISTING.row, [gid]))
  const rows = await tx.session.readRows(READ_EXISTING, gids)
  const existing = new Map(rows.map((row) => [toText(row[EXISTING.gid]), row]))
  if (existing.size === 0) throw new SqlError('repeat', `a duplicate that is not there: ${error.message}`)
  const settlements = creates.flatMap((create) => {
    const row = existing.get(create.gid)
    return row === undefined ? [] : [settleExisting(create, row, tx.now)]
  })
  // An insert before the refused one may have written some of the rows.
  await enterTags(
    tx,
    creates.filter((create) => isOwnOfNow(create, existing.get(create.gid), tx.now)),
  )
  const others = creates.filter(({ gid }) => !existing.has(gid))
  return [...settlements, ...(await createRows(tx, others))]
}

function isOwnOfNow(create: PendingCreate, row: Row | undefined, now: number): boolean {
  return row !== undefined && isOwn(create, row) && Number(row[EXISTING.createdAt]) === now
}

function isOwn({ token, writeId }: PendingCreate, row: Row): boolean {
  return toText(row[EXISTING.token]) === token && toText(row[EXISTING.writeId]) === writeId
}

function settleExisting(create: PendingCreate, row: Row, now: number): Settlement {
  const isMine = isOwn(create, row)
  const status = toStatus(row[EXISTING.status])
  if (!isMine && status === undefined) {
    return () => create.reject(new AssertionError(`${create.gid} exists with a status of a later version`))
  }
  const result: CreateResult =
    isMine || status === undefined
      ? { type: 'created', createdAt: Number(row[EXISTING.createdAt]), now }
      : { type: 'exists', digest: toText(row[EXISTING.digest]), status, now }
  return () => create.resolve(result)
}

/**
 * Updates the rows in few statements. The number of changed rows proves the common case: all rows were as their writers
 * knew them. If it is lower, the rows are read and settled one by one.
 */
async function updateRows(tx: Tx, updates: readonly PendingUpdate[]): Promise<readonly Settlement[]> {
  if (updates.length === 0) return []
  try {
    const statements = writeUpdates(updates, tx.session.rowBytesMax).map(({ sql }) => sql)
    const changed = countChanges(await tx.runNow(statements))
    return changed < updates.length ? await settleByRow(tx, updates) : settleSaved(updates, tx.now)
  } catch (error: unknown) {
    if (!(error instanceof SqlError) || error.fault !== 'row') throw error
    return writeHalves(updates, error, (half) => updateRows(tx, half))
  }
}

/** Counts the rows that the statements have changed together. A statement that reads changes none. */
function countChanges(answers: readonly Answer[]): number {
  return answers.reduce<number>((sum, answer) => sum + (typeof answer === 'number' ? answer : 0), 0)
}

function settleSaved(updates: readonly PendingUpdate[], now: number): readonly Settlement[] {
  return updates.map(
    (update) => () => update.resolve({ type: 'saved', version: nextVersion(update, now), now }),
  )
}

/** Computes the version like update.sql. A version that was lost with the server's last writes is not issued again. */
function nextVersion({ version }: PendingUpdate, now: number): number {
  return Math.max(version + 1, now)
}

/** Reads under lock and before the COMMIT, so that what it reads is what this database transaction leaves on the disk. */
async function settleByRow(tx: Tx, updates: readonly PendingUpdate[]): Promise<readonly Settlement[]> {
  const gids = updates.map(({ gid }) => fill(READ_KEYS.row, [gid]))
  const rows = await tx.session.readRows(READ_KEYS, gids)
  const byGid = new Map(rows.map((row) => [toText(row[KEYS.gid]), row]))
  return updates.map((update) => settleOne(update, byGid.get(update.gid), tx.now))
}

function settleOne(update: PendingUpdate, row: Row | undefined, now: number): Settlement {
  if (row === undefined) return () => update.resolve({ type: 'absent' })
  if (toText(row[KEYS.token]) !== update.token) return () => update.resolve({ type: 'fenced' })
  const version = Number(row[KEYS.version])
  // This statement wrote the row, or the same write did that was sent before.
  if (toText(row[KEYS.writeId]) === update.writeId)
    return () => update.resolve({ type: 'saved', version, now })
  if (version === update.version && row[KEYS.live] === 1) {
    // The row got this version between the two statements, so a second try will match it.
    throw new SqlError('repeat', 'a row changed while it was updated')
  }
  return () => update.resolve({ type: 'conflict', version })
}

/** A bad row fails alone: the halves that do not hold it are written. */
async function writeHalves<Write extends PendingWrite>(
  writes: readonly Write[],
  error: SqlError,
  write: (half: readonly Write[]) => Promise<readonly Settlement[]>,
): Promise<readonly Settlement[]> {
  const [only, ...more] = writes
  if (only === undefined || more.length === 0) {
    return [() => only?.reject(new AssertionError(`a row that cannot be written: ${error.message}`))]
  }
  const middle = Math.ceil(writes.length / 2)
  const left = await write(writes.slice(0, middle))
  return [...left, ...(await write(writes.slice(middle)))]
}
