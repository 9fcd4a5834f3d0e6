import { AssertionError, type CreateResult, StoreUnavailableError, toStatus } from '@counterstep/core'
import { asOutcomeUnknown, type Row, type Settlement, toText } from '@counterstep/store-sql'
import { COLUMNS, STATEMENTS } from '../generated/sql.ts'
import { numberParameters } from '../sql/number-parameters.ts'
import { FLUSHED, writeFlush } from './flush-statement.ts'
import type { PendingCreate, PendingUpdate, PendingWrite } from './pending-writes.ts'
import type { WritingStatements } from './statements.ts'

const READ_KEYS = numberParameters(STATEMENTS.readKeys)
const KEYS = COLUMNS.readKeys
/** A row that changes between the flush and the look at it is flushed again, at most so often. */
const LOOKS_MAX = 5

/**
 * Writes one flush as one statement. A row that the statement has left as it was is read afterwards, to find out why. That
 * statement waits for the disks too, since a row may be seen before a standby has it if its COMMIT was cut short.
 */
export async function writeBatch(
  statements: WritingStatements,
  writes: readonly PendingWrite[],
  looks = 0,
  tells = true,
): Promise<readonly Settlement[]> {
  const creates = writes.filter((write): write is PendingCreate => write.type === 'create')
  const updates = writes.filter((write): write is PendingUpdate => write.type === 'update')
  // A write that is alone tries a lock again. One with neighbours is first separated from them, so that they go on.
  const lockWaitRepeats = writes.length === 1 ? 1 : 0
  try {
    const flush = writeFlush(creates, updates, tells)
    const [row = []] = await statements.run(flush, writes.length, lockWaitRepeats)
    const now = Number(row[FLUSHED.now])
    const created = readGids(row[FLUSHED.created])
    const updated = readGids(row[FLUSHED.updated])
    const settlements: Settlement[] = []
    const left: PendingWrite[] = []
    for (const write of writes) {
      if ((write.type === 'create' ? created : updated).has(write.gid))
        settlements.push(settleWritten(write, now))
      else left.push(write)
    }
    if (left.length > 0) settlements.push(...(await settleLeft(statements, left, now, looks)))
    return settlements
  } catch (error: unknown) {
    // A fault of a row comes as an AssertionError.
    if (!(error instanceof AssertionError)) throw error
    // The queue of NOTIFY may be full, which another database of the server can cause. To tell other nodes only hurries: they
    // learn of a command when they renew their leases.
    if (tells && updates.some(({ isCommand }) => isCommand))
      return writeBatch(statements, writes, looks, false)
    return writeHalves(statements, writes, error)
  }
}

function readGids(cell: Row[number] | undefined): ReadonlySet<string> {
  return new Set(cell === null || cell === undefined ? [] : toText(cell).split(' '))
}

function settleWritten(write: PendingWrite, now: number): Settlement {
  if (write.type === 'create') return () => write.resolve({ type: 'created', createdAt: now, now })
  // A version that was lost with the server's last writes is not issued again.
  return () => write.resolve({ type: 'saved', version: Math.max(write.version + 1, now), now })
}

/** The flush is committed by now, so no failure here may reject the writes that are in it. */
async function settleLeft(
  statements: WritingStatements,
  left: readonly PendingWrite[],
  now: number,
  looks: number,
): Promise<readonly Settlement[]> {
  try {
    const rows = await statements.run({ sql: READ_KEYS, values: [left.map(({ gid }) => gid)] }, 0)
    const byGid = new Map(rows.map((row) => [toText(row[KEYS.gid]), row]))
    const settlements: Settlement[] = []
    const again: PendingWrite[] = []
    for (const write of left) {
      const row = byGid.get(write.gid)
      const settlement =
        write.type === 'create' ? settleCreate(write, row, now) : settleUpdate(write, row, now)
      if (settlement === undefined) again.push(write)
      else settlements.push(settlement)
    }
    if (again.length === 0) return settlements
    if (looks === LOOKS_MAX)
      throw new StoreUnavailableError('a row changes with each look at it', { applied: 'unknown' })
    return [...settlements, ...(await writeBatch(statements, again, looks + 1))]
  } catch (error: unknown) {
    const unknown = asOutcomeUnknown(error)
    const reason = unknown instanceof Error ? unknown : new Error(String(unknown))
    return left.map((write) => () => write.reject(reason))
  }
}

/** Returns undefined if the gid that was there when the row was to be created has been removed since. */
function settleCreate(create: PendingCreate, row: Row | undefined, now: number): Settlement | undefined {
  if (row === undefined) return undefined
  const isOwn = toText(row[KEYS.token]) === create.token && toText(row[KEYS.writeId]) === create.writeId
  const status = toStatus(row[KEYS.status])
  if (!isOwn && status === undefined) {
    return () => create.reject(new AssertionError(`${create.gid} exists with a status of a later version`))
  }
  const result: CreateResult =
    isOwn || status === undefined
      ? { type: 'created', createdAt: Number(row[KEYS.createdAt]), now }
      : { type: 'exists', digest: toText(row[KEYS.digest]), status, now }
  return () => create.resolve(result)
}

/** Returns undefined if the row got this version between the two statements, so that a second try will match it. */
function settleUpdate(update: PendingUpdate, row: Row | undefined, now: number): Settlement | undefined {
  if (row === undefined) return () => update.resolve({ type: 'absent' })
  if (toText(row[KEYS.token]) !== update.token) return () => update.resolve({ type: 'fenced' })
  const version = Number(row[KEYS.version])
  // The same write was sent before.
  if (toText(row[KEYS.writeId]) === update.writeId)
    return () => update.resolve({ type: 'saved', version, now })
  if (version === update.version && row[KEYS.live] === 1) return undefined
  return () => update.resolve({ type: 'conflict', version })
}

/** A bad row fails alone: the halves that do not hold it are written. */
async function writeHalves(
  statements: WritingStatements,
  writes: readonly PendingWrite[],
  error: AssertionError,
): Promise<readonly Settlement[]> {
  const [only, ...more] = writes
  if (only === undefined || more.length === 0) {
    return [() => only?.reject(new AssertionError(`a row that cannot be written: ${error.message}`))]
  }
  const middle = Math.ceil(writes.length / 2)
  const left = await writeBatch(statements, writes.slice(0, middle))
  return [...left, ...(await writeBatch(statements, writes.slice(middle)))]
}
