import {
  AssertionError,
  assert,
  type DueClaim,
  type DueClaimResult,
  PARKED_AT,
  type SingleClaim,
  type SingleClaimResult,
  type StoredTransaction,
} from '@counterstep/core'
import { type Row, toStoredTransaction } from '@counterstep/store-sql'
import { COLUMNS, STATEMENTS } from '../generated/sql.ts'
import { fill, parseRowsStatement, parseStatement } from '../sessions/statement.ts'
import type { Tx, Work } from '../transactions/transaction-protocol.ts'

const FIND_DUE = parseStatement(STATEMENTS.findDue)
const FIND_ONE = parseStatement(STATEMENTS.findOne)
const CLAIM = parseRowsStatement(STATEMENTS.claim)

/** Both statements begin with the columns of read-many.sql, so that one function reads the rows of all three. */
const DUE = COLUMNS.findDue satisfies typeof COLUMNS.readMany
const ONE = COLUMNS.findOne satisfies typeof DUE

interface Found {
  readonly id: number
  readonly token: string
  readonly transaction: StoredTransaction
}

export async function claimDue(tx: Tx, claim: DueClaim): Promise<Work<DueClaimResult>> {
  const { session, now } = tx
  const { limit, leaseMs, tokens, formatMax } = claim
  const until = Math.min(now, PARKED_AT - 1)
  const rows = limit === 0 ? [] : await session.all(fill(FIND_DUE, [until, formatMax, limit]))
  const found = rows.map((row, i) => toFound(row, tokens[i] ?? ''))
  const claimed = await claimRows(tx, found, leaseMs)
  return { value: { now, claimed }, rows: claimed.length }
}

export async function claimOne(tx: Tx, claim: SingleClaim): Promise<Work<SingleClaimResult>> {
  const { gid, token, leaseMs, formatMax } = claim
  const [row] = await tx.session.all(fill(FIND_ONE, [gid]))
  const reason = findRefusal(row, formatMax, tx.now)
  if (row === undefined || reason !== undefined) {
    return { value: { type: 'refused', reason: reason ?? 'absent' }, rows: 0 }
  }
  const [transaction] = await claimRows(tx, [toFound(row, token)], leaseMs)
  assert(transaction !== undefined, 'a claim of one row that has taken none')
  return { value: { type: 'claimed', transaction, now: tx.now }, rows: 1 }
}

function findRefusal(
  row: Row | undefined,
  formatMax: number,
  now: number,
): (SingleClaimResult & { type: 'refused' })['reason'] | undefined {
  if (row === undefined) return 'absent'
  const [owned, dueAt, live] = [row[ONE.owned], Number(row[ONE.dueAt]), row[ONE.live]]
  if (live !== 1) return 'final'
  if (dueAt >= PARKED_AT) return 'parked'
  if (owned === 1 && dueAt > now) return 'held'
  // Codes that this version does not know are a newer format, whatever the number says.
  if (Number(row[ONE.format]) > formatMax || toStoredTransaction(row) === undefined) return 'format'
  return undefined
}

function toFound(row: Row, token: string): Found {
  const transaction = toStoredTransaction(row)
  if (transaction === undefined) throw new AssertionError('a claim of a row with unknown codes')
  return { id: Number(row[DUE.id]), token, transaction }
}

/** The rows are locked, so their new state is known without reading them again. */
async function claimRows(
  { session, now }: Tx,
  found: readonly Found[],
  leaseMs: number,
): Promise<readonly StoredTransaction[]> {
  if (found.length === 0) return []
  const dueAt = now + leaseMs
  const rows = found.map(({ id, token }) => fill(CLAIM.row, [id, token]))
  const changed = await session.runRows(CLAIM, rows, [dueAt, now])
  assert(changed === found.length, `a claim of ${found.length} locked rows has changed ${changed}`)
  return found.map(({ token, transaction }) => applyClaim(transaction, token, dueAt, now))
}

/** Computes the row that claim.sql writes. */
function applyClaim(row: StoredTransaction, token: string, dueAt: number, now: number): StoredTransaction {
  return {
    ...row,
    token,
    dueAt,
    owned: true,
    version: Math.max(row.version + 1, now),
    epoch: row.epoch + 1,
    claimsWithoutProgress: row.claimsWithoutProgress + 1,
    sentList: row.sentList === 'released' ? 'held' : 'unknown',
  }
}
