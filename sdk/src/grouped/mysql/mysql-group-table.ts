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
import type { BarrierKey } from '../../branch/barrier-key.ts'
import { toBranchText } from '../admit-call.ts'
import type { AdmittedCall } from '../group-barrier.ts'
import { type GroupRow, type GroupTable, type KeptAnswer, ROWS_LOST } from '../group-table.ts'
import { hex } from './mysql-literals.ts'
import { hasWaitedInVain, type LockWaits } from './mysql-lock-waits.ts'

const COLUMNS = 'gid, branch_id, op, barrier_id, reason, created_at'
/** So few are inserted one by one: a single call, which is the plain barrier's way. */
const ONE_BY_ONE_ROWS_MAX = 2
/** How often the rows are looked for again because others have come in between; then it is one by one. */
const READS_MAX = 3
/** Of one statement: far below the smallest max_allowed_packet that is in use. */
const STATEMENT_BYTES_MAX = 1024 * 1024

type StandingRows = ReadonlyMap<string, readonly StandingRow[]>

/** What earlier groups found. */
export interface GroupHistory {
  /** Where duplicates are usual, an insert that fails on one is a statement too many. */
  hadDuplicates: boolean
  /** On the clock of `performance`. */
  plansAgainAt: number
}

/**
 * A planned group waits for another transaction's row of the same call with its business rows locked, and so do all that
 * need these. One that has waited in vain shows that there are calls which keep their rows for long.
 */
const NO_PLAN_FOR_MS = 60_000

/** The rows of a group within the connection's open transaction. `table` is quoted already. */
export function mysqlGroupTable(
  connection: MysqlConnection,
  table: string,
  lockWaits: LockWaits,
  history: GroupHistory,
): GroupTable {
  // Nothing of this transaction would be lost if it were begun again.
  let isFresh = true
  let seen: StandingRows = new Map()

  const lookUp = async (rows: readonly Pick<GroupRow, 'admitted' | 'op'>[]): Promise<StandingRows> => {
    const calls = [...new Set(rows.map(({ admitted }) => admitted))]
    const found = await standingCommitted(connection, table, calls)
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
    let looksFirst = isFresh && history.hadDuplicates
    for (let looks = 0; missing.length > ONE_BY_ONE_ROWS_MAX; looks++) {
      if (!looksFirst && (await isInserted(connection, table, missing))) return new Set(missing)
      if (!isFresh || looks === READS_MAX) break
      looksFirst = false
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
    standing: async (calls) =>
      calls.every((call) => hasRow(seen, call, call.op)) ? seen : standingNow(connection, table, calls),
    keepAnswers: async (kept) => {
      // The statement below would insert what is missing, and outside of a transaction it would commit that.
      if (!(await lockWaits.restoreAndAsk())) throw toTransactionLostError(ROWS_LOST)
      for (const chunk of splitIntoChunks(kept)) await keep(connection, table, chunk)
    },
    planned: {
      look: async (calls) => {
        if (performance.now() < history.plansAgainAt) return undefined
        // Elsewhere the statement after a transaction that was lost would begin another one, and nobody would notice.
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
      // By the key: a scan of the table would lock all of it.
      const sql = `DELETE doomed FROM ${table} AS doomed FORCE INDEX (PRIMARY) WHERE ${where}`
      assertTouched(await execute(connection, sql), calls.length)
    },
  }
}

/** All of the rows or none. */
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
    // InnoDB rolls back the statement alone, and does not say which row it was in a way that can be read.
    if (isDuplicateKey(error)) return false
    throw error
  }
}

/**
 * What stands, by a plain read: a locking one of rows that are missing would lock the gaps that two groups are about to
 * insert into. It would fix what the effects see before the rows that the group still waits for, and so the
 * transaction, in which nothing has been written, is begun again.
 */
async function standingCommitted(
  connection: MysqlConnection,
  table: string,
  calls: readonly AdmittedCall[],
): Promise<StandingRows> {
  const found = await readStanding(connection, table, calls, '')
  await execute(connection, 'START TRANSACTION')
  return found
}

/** What is committed now, and what this transaction has written itself; as the plain barrier reads it. */
function standingNow(
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

/** A service is usually one branch of its sagas: to name it once spares the server a quarter of such a SELECT's time. */
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

/** An upsert finds each row by its key; an UPDATE of many keys would be free to scan the table, and to lock it. */
async function keep(connection: MysqlConnection, table: string, kept: readonly KeptAnswer[]): Promise<void> {
  const tuples = kept.map(({ admitted: { key, op }, answer }) => {
    const parts = [key.gid, key.branchId, op, key.barrierId, op].map(hex)
    return `(${parts.join()},0,${hex(answer)})`
  })
  const sql = `INSERT INTO ${table} (${COLUMNS}, answer) VALUES ${tuples.join()}
    ON DUPLICATE KEY UPDATE answer = VALUES(answer)`
  // MySQL's manual, 15.2.7.2: 2 for each row that was there and has changed, as from NULL; 1 for one that is new.
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
