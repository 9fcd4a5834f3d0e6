import type { Op } from '@counterstep/protocol'
import type { BarrierReason } from '@counterstep/protocol/barrier'
import type { StandingRow } from '../../barrier/decide-call.ts'
import {
  execute,
  isDuplicateKey,
  isInTransaction,
  type MysqlConnection,
  type MysqlDone,
  select,
  toTransactionLostError,
} from '../../barrier/mysql/mysql-connection.ts'
import { flushAnew, flushWithin } from '../../barrier/mysql/mysql-flush.ts'
import type { BarrierKey } from '../../branch/barrier-key.ts'
import { toBranchText } from '../admit-call.ts'
import type { AdmittedCall } from '../group-barrier.ts'
import { type GroupRow, type GroupTable, type KeptAnswer, ROWS_LOST } from '../group-table.ts'
import { hex } from './mysql-literals.ts'
import { hasWaitedInVain, type LockWaits } from './mysql-lock-waits.ts'

const COLUMNS = 'gid, branch_id, op, barrier_id, reason, created_at'
/**
 * Up to this many rows are inserted one by one. They belong to a single call, which is served as by the plain barrier.
 */
const ONE_BY_ONE_ROWS_MAX = 2
/**
 * Says how often the rows are read again because other transactions have inserted rows in between. After that they are
 * inserted one by one.
 */
const READS_MAX = 3
/** The bound of one statement, far below the smallest max_allowed_packet in use. */
const STATEMENT_BYTES_MAX = 1024 * 1024

type StandingRows = ReadonlyMap<string, readonly StandingRow[]>

/** Findings of earlier groups that change how the next one goes. */
export interface GroupHistory {
  /** If it is true, the rows are read before they are inserted, because an insert that meets a duplicate is wasted. */
  hadDuplicates: boolean
  /** No group is planned before this instant of `performance.now()`. */
  plansAgainAt: number
}

/**
 * A planned group may have locked its business rows while it waits for another transaction's row of the same call, and
 * then every call that needs these business rows waits, too. If a group has waited in vain, there are calls that keep
 * their rows for long, so no group is planned for this time.
 */
const NO_PLAN_FOR_MS = 60_000

/** The rows of a group within the connection's open transaction. `table` is quoted already. */
export function createMysqlGroupTable(
  connection: MysqlConnection,
  table: string,
  lockWaits: LockWaits,
  history: GroupHistory,
): GroupTable {
  // While this is true, the transaction can be begun again without loss.
  let isFresh = true
  let seen: StandingRows = new Map()

  const lookUp = async (rows: readonly Pick<GroupRow, 'admitted' | 'op'>[]): Promise<StandingRows> => {
    const calls = [...new Set(rows.map(({ admitted }) => admitted))]
    const found = await readCommittedRows(connection, table, calls)
    history.hadDuplicates = rows.some(({ admitted, op }) => hasRow(found, admitted, op))
    return found
  }
  const insertOneByOne = async (rows: readonly GroupRow[]): Promise<ReadonlySet<GroupRow>> => {
    const inserted = new Set<GroupRow>()
    for (const row of rows) {
      if (await isInserted(connection, table, [row])) inserted.add(row)
    }
    return inserted
  }
  const insertAtOnce = async (rows: readonly GroupRow[]): Promise<ReadonlySet<GroupRow>> => {
    let missing = rows
    let readsFirst = isFresh && history.hadDuplicates
    for (let reads = 0; missing.length > ONE_BY_ONE_ROWS_MAX; reads++) {
      if (!readsFirst && (await isInserted(connection, table, missing))) return new Set(missing)
      if (!isFresh || reads === READS_MAX) break
      readsFirst = false
      seen = await lookUp(rows)
      missing = rows.filter(({ admitted, op }) => !hasRow(seen, admitted, op))
    }
    return insertOneByOne(missing)
  }
  return {
    insert: async (rows) => {
      seen = new Map()
      await lockWaits.shorten()
      const inserted = await insertAtOnce(rows)
      isFresh = false
      return inserted
    },
    readStanding: async (calls) =>
      calls.every((call) => hasRow(seen, call, call.op)) ? seen : readCurrentRows(connection, table, calls),
    keepAnswers: async (kept) => {
      // Outside of a transaction the statement below would insert missing rows and commit them.
      if (!(await lockWaits.restoreAndAsk())) throw toTransactionLostError(ROWS_LOST)
      for (const chunk of splitIntoChunks(kept)) await keep(connection, table, chunk)
    },
    planned: {
      findStanding: async (calls) => {
        if (performance.now() < history.plansAgainAt) return undefined
        // Without autocommit the statement after a lost transaction would begin another one, and the loss would go
        // unnoticed.
        if (!(await lockWaits.shorten())) return undefined
        return history.hadDuplicates
          ? lookUp(calls.map((admitted) => ({ admitted, op: admitted.op })))
          : new Map()
      },
      insert: async (planned) => {
        const rows = planned.map((row) => ({ ...row, op: row.admitted.op, reason: row.admitted.op }))
        try {
          isFresh = !(await isInserted(connection, table, rows))
        } catch (error: unknown) {
          if (hasWaitedInVain(error)) history.plansAgainAt = performance.now() + NO_PLAN_FOR_MS
          throw error
        }
        return isFresh ? lookUp(rows) : undefined
      },
      end: async () => {
        if (!(await lockWaits.restoreAndAsk())) throw toTransactionLostError(ROWS_LOST)
      },
    },
    remove: async (calls) => {
      const where = calls.map(({ key, op }) => matchRow(key, op)).join(' OR ')
      // The DELETE is made to use the key, because a scan would lock the whole table.
      const sql = `DELETE doomed FROM ${table} AS doomed FORCE INDEX (PRIMARY) WHERE ${where}`
      assertTouched(await execute(connection, sql), calls.length)
    },
    // A transaction that can be begun again without loss has been, and holds no lock.
    flushStanding: () => (isFresh ? flushWithin : flushAnew)(connection, table),
  }
}

/** Inserts all of the rows, or none if one of them stands already. */
async function isInserted(
  connection: MysqlConnection,
  table: string,
  rows: readonly (GroupRow & { readonly answer?: string })[],
): Promise<boolean> {
  const tuples = rows.map(({ admitted: { key, at }, op, reason, answer }) => {
    const parts = [key.gid, key.branchId, op, key.barrierId, reason].map(hex)
    return `(${parts.join()},${at},${answer === undefined ? 'NULL' : hex(answer)})`
  })
  try {
    await execute(connection, `INSERT INTO ${table} (${COLUMNS}, answer) VALUES ${tuples.join()}`)
    return true
  } catch (error: unknown) {
    // InnoDB rolls back only the statement, and its error does not say in a form that can be parsed which row it was.
    if (isDuplicateKey(error)) return false
    throw error
  }
}

/**
 * Reads the rows that stand without locking. A locking read of missing rows would lock the gaps that two groups are
 * about to insert into. A plain read takes the transaction's snapshot too early: the effects would not see what is
 * committed while the group still waits for rows. So the transaction is begun again; nothing has been written in it.
 */
async function readCommittedRows(
  connection: MysqlConnection,
  table: string,
  calls: readonly AdmittedCall[],
): Promise<StandingRows> {
  const found = await readStanding(connection, table, calls, '')
  await execute(connection, 'START TRANSACTION')
  return found
}

/**
 * Reads the rows that are committed now and those of this transaction, with a locking read like the plain barrier's.
 */
function readCurrentRows(
  connection: MysqlConnection,
  table: string,
  calls: readonly AdmittedCall[],
): Promise<StandingRows> {
  return readStanding(connection, table, calls, ' LOCK IN SHARE MODE')
}

async function readStanding(
  connection: MysqlConnection,
  table: string,
  calls: readonly AdmittedCall[],
  lock: string,
): Promise<StandingRows> {
  const found = new Map<string, StandingRow[]>()
  const sql = `SELECT gid, branch_id, barrier_id, op, reason, answer, created_at
    FROM ${table} FORCE INDEX (PRIMARY) WHERE ${matchBranches(calls.map(({ key }) => key))}${lock}`
  for (const [gid, branchId, barrierId, op, reason, answer, createdAt] of await select(connection, sql)) {
    const branch = toBranchText(String(gid), String(branchId), String(barrierId))
    // The columns hold only what is inserted here.
    const row = {
      op: op as Op,
      reason: reason as BarrierReason,
      answer: answer ?? null,
      createdAt: Number(createdAt),
    }
    const known = found.get(branch)
    if (known === undefined) found.set(branch, [row])
    else known.push(row)
  }
  return found
}

/**
 * Matches all rows of the branches. A service is usually the same branch of all its sagas, and naming the branch id
 * only once saves the server a quarter of the time of such a SELECT.
 */
function matchBranches(keys: readonly BarrierKey[]): string {
  const [first] = keys
  if (first !== undefined && keys.every(({ branchId }) => branchId === first.branchId))
    return `branch_id = ${hex(first.branchId)} AND gid IN (${keys.map(({ gid }) => hex(gid)).join()})`
  const pairs = keys.map(({ gid, branchId }) => `(${hex(gid)},${hex(branchId)})`)
  return `(gid, branch_id) IN (${pairs.join()})`
}

function hasRow(rows: StandingRows, { branch }: AdmittedCall, op: Op): boolean {
  return rows.get(branch)?.some((row) => row.op === op) ?? false
}

/**
 * Stores answers by an upsert, which finds each row by its key. An UPDATE of many keys could scan the table, and lock
 * all of it.
 */
async function keep(connection: MysqlConnection, table: string, kept: readonly KeptAnswer[]): Promise<void> {
  const tuples = kept.map(({ admitted: { key, op }, answer }) => {
    const parts = [key.gid, key.branchId, op, key.barrierId, op].map(hex)
    return `(${parts.join()},0,${hex(answer)})`
  })
  const sql = `INSERT INTO ${table} (${COLUMNS}, answer) VALUES ${tuples.join()}
    ON DUPLICATE KEY UPDATE answer = VALUES(answer)`
  // MySQL's manual, 15.2.7.2: each row that was there and has changed, for example from NULL, counts 2, and each new
  // row counts 1.
  assertTouched(await execute(connection, sql), 2 * kept.length)
}

function assertTouched(done: MysqlDone, rows: number): void {
  if (done.affectedRows !== rows || !isInTransaction(done)) throw toTransactionLostError(ROWS_LOST)
}

function* splitIntoChunks(kept: readonly KeptAnswer[]): Generator<readonly KeptAnswer[]> {
  let chunk: KeptAnswer[] = []
  let bytes = 0
  for (const each of kept) {
    const more = 2 * Buffer.byteLength(each.answer)
    if (chunk.length > 0 && bytes + more > STATEMENT_BYTES_MAX) {
      yield chunk
      chunk = []
      bytes = 0
    }
    chunk.push(each)
    bytes += more
  }
  yield chunk
}

function matchRow({ gid, branchId, barrierId }: BarrierKey, op: Op): string {
  return `(gid = ${hex(gid)} AND branch_id = ${hex(branchId)} AND op = ${hex(op)} AND barrier_id = ${hex(barrierId)})`
}
