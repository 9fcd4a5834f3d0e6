import type { Op } from '@counterstep/protocol'
import { BranchError, BranchFailure } from '../../branch/branch-errors.ts'
import type { GroupCall } from '../group-barrier.ts'
import { type Steps, wait } from '../steps.ts'
import { type Added, type Addition, type AdditionLog, isInt64, toWholeNumber } from './addition.ts'
import type { AdditionSession, AdditionSql, FoundRows, SqlText, SqlValue } from './addition-sql.ts'
import { mayBeKey } from './column-type.ts'
import { toKeyNumber } from './key-number.ts'

/** The business has agreed to these ops already. If they were refused, they would be asked again for ever. */
const AGREED: ReadonlySet<Op> = new Set(['compensate', 'cancel', 'confirm'])

/** The ids 7 and '7' are one row. */
interface Balance {
  readonly id: Addition['id']
  /** It is undefined if the column holds no whole number of 64 bits. */
  readonly before: bigint | undefined
  now: bigint | undefined
}

interface Balances {
  readonly byId: ReadonlyMap<string, Balance>
  /** Every key that was found, normalized by `normalizeKey`, even if the call wrote it in another form. */
  readonly writings: ReadonlySet<string>
  readonly keyBytes: FoundRows['keyBytes']
  readonly valueColumn: FoundRows['valueColumn']
}

/** The outcome of a group's additions, before any of it is written. */
export interface AdditionPlan {
  /** For each call this list has its answer, or the error that refuses it. */
  readonly results: readonly unknown[]
  readonly changes: readonly { readonly id: Addition['id']; readonly value: bigint }[]
  readonly log: readonly (readonly SqlValue[])[]
}

/** Locks and reads the rows, and decides for each call in the order of arrival. It writes nothing. */
export function* planAdditions<Entry extends Addition>(
  session: AdditionSession,
  sql: AdditionSql,
  calls: readonly GroupCall<Entry>[],
  log: AdditionLog<Entry> | undefined,
): Steps<AdditionPlan> {
  const balances = yield* lockBalances(session, sql, calls)
  const rows: (readonly SqlValue[])[] = []
  const results = calls.map((each) => {
    try {
      const added = addOne(balances, each, sql.min)
      // The log is asked before the sum is changed, so that a call whose log throws has added nothing.
      if (log !== undefined) rows.push(toLogRow(log, added))
      const balance = balances.byId.get(added.id)
      if (balance !== undefined) balance.now = added.value
      return { value: String(added.value) }
    } catch (error: unknown) {
      return error instanceof Error ? error : new Error('the log threw what is no Error', { cause: error })
    }
  })
  const changes = [...balances.byId.values()].flatMap(({ id, before, now }) =>
    now === undefined || before === now ? [] : [{ id, value: now }],
  )
  return { results, changes, log: rows }
}

/** Writes all sums by one statement, and the log by another. */
export function* writeAdditions(
  session: AdditionSession,
  sql: AdditionSql,
  { changes, log }: AdditionPlan,
): Steps<void> {
  if (changes.length > 0) {
    const { text, values } = sql.update(changes)
    const changed = yield* wait(session.execute(text, values))
    if (changed !== changes.length) {
      throw new Error(
        `${changed} rows were changed instead of ${changes.length}: the key column is not unique`,
      )
    }
  }
  if (log.length > 0) {
    const { text, values } = sql.insertLog(log)
    yield* wait(session.execute(text, values))
  }
}

/** Plans and then writes. A call that is refused has written nothing. */
export function* addGroup<Entry extends Addition>(
  session: AdditionSession,
  sql: AdditionSql,
  calls: readonly GroupCall<Entry>[],
  log: AdditionLog<Entry> | undefined,
): Steps<readonly unknown[]> {
  const plan = yield* planAdditions(session, sql, calls, log)
  yield* writeAdditions(session, sql, plan)
  return plan.results
}

function* lockBalances(
  session: AdditionSession,
  sql: AdditionSql,
  calls: readonly GroupCall<Addition>[],
): Steps<Balances> {
  const ids = new Map<string, Addition['id']>()
  for (const { entry } of calls) {
    if (isId(entry?.id)) ids.set(String(entry.id), entry.id)
  }
  const byId = new Map<string, Balance>()
  const writings = new Set<string>()
  if (ids.size === 0) return { byId, writings, keyBytes: undefined, valueColumn: undefined }
  const { rows, keyBytes, valueColumn } = yield* findRows(session, sql, [...ids.values()])
  for (const [keyText, value] of rows) {
    const key = sql.readKey(String(keyText))
    writings.add(normalizeKey(key))
    const id = ids.get(key)
    // A collation may find `alice` for Alice. And if two rows have one key, it is not a key.
    if (id === undefined) continue
    if (byId.has(key)) throw new Error('two rows have one key: the key column is not unique')
    const before = toWholeNumber(value)
    byId.set(key, { id, before, now: before })
  }
  return { byId, writings, keyBytes, valueColumn }
}

/** Asks for the rows whose keys the column can hold, as its type is in this transaction. */
function* findRows(
  session: AdditionSession,
  sql: AdditionSql,
  ids: readonly Addition['id'][],
): Steps<FoundRows> {
  const select = ({ text, values }: SqlText) => wait(session.select(text, values))
  const { isKnown, column } = sql.memory
  const known = isKnown === true ? column : (yield* select(sql.selectNone())).column
  const asked = ids.filter((id) => mayBeKey(known, String(id)))
  const found = yield* select(asked.length === 0 ? sql.selectNone() : sql.select(asked))
  sql.memory.column = found.column
  sql.memory.isKnown = true
  const wasRight = asked.length === ids.length || found.column?.type === known?.type
  return wasRight ? found : yield* findRows(session, sql, ids)
}

function isId(id: unknown): id is Addition['id'] {
  return typeof id === 'string' || typeof id === 'bigint' || Number.isSafeInteger(id)
}

/** Decides one addition. Throws the reason why it is refused. */
function addOne<Entry extends Addition>(
  balances: Balances,
  { call, entry }: GroupCall<Entry>,
  min: bigint | undefined,
): Added<Entry> {
  const delta = toWholeNumber(entry?.delta)
  if (delta === undefined || !isId(entry?.id)) {
    const message = 'the handler must return an id and a delta that is a whole number of 64 bits'
    throw new BranchError('BRANCH_PAYLOAD_INVALID', message)
  }
  const id = String(entry.id)
  const balance = balances.byId.get(id)
  if (balance === undefined) {
    if (balances.writings.has(normalizeKey(id))) {
      throw new Error('the database writes the key of this account in another way: give the id as it is read')
    }
    if (balances.keyBytes !== undefined && balances.keyBytes !== Buffer.byteLength(id)) {
      const column = `BINARY(${balances.keyBytes})`
      throw new Error(
        `the key column is ${column}, which pads: give ids of this length, or make it VARBINARY`,
      )
    }
    throw toRefusal(call.op, 'UNKNOWN_ACCOUNT', 'there is no such account')
  }
  if (balance.now === undefined) throw new Error('the value of this account is no whole number of 64 bits')
  const value = balance.now + delta
  if (min !== undefined && delta < 0n && value < min && !AGREED.has(call.op)) {
    throw toRefusal(call.op, 'INSUFFICIENT', 'the value would fall below its minimum')
  }
  if (!isInt64(value) || balances.valueColumn?.holds(String(value)) === false) {
    throw toRefusal(call.op, 'OUT_OF_RANGE', 'the column cannot hold the value that would be there')
  }
  return { call, entry, id, delta, value }
}

/**
 * A call that may not be refused any more fails with an error of the service. The service has to be mended before the
 * call can succeed.
 */
function toRefusal(op: Op, code: string, message: string): Error {
  return AGREED.has(op) ? new Error(`${code} for a ${op}: ${message}`) : new BranchFailure(message, { code })
}

function toLogRow<Entry extends Addition>(log: AdditionLog<Entry>, added: Added<Entry>): readonly SqlValue[] {
  const row = log.values(added)
  if (row.length === log.columns.length && row.every(isSqlValue)) return row
  throw new TypeError('log.values must return a string, a finite number, a bigint or null for each column')
}

function isSqlValue(value: unknown): boolean {
  return value === null || typeof value === 'string' || typeof value === 'bigint' || Number.isFinite(value)
}

const UUID = /^\{?([0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12})\}?$/i

/**
 * Returns one text for all forms that are one key in a column of numbers or UUIDs: 7, 007 (ZEROFILL) and +7, or a UUID
 * in upper or lower case. Texts that differ in the case of letters stay apart, since only a collation makes them equal.
 */
function normalizeKey(text: string): string {
  const number = toKeyNumber(text)
  if (number !== undefined) return number
  const uuid = UUID.exec(text)?.[1]
  return uuid === undefined ? text : uuid.replaceAll('-', '').toLowerCase()
}
