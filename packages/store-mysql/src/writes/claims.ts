import {
  AssertionError,
  assert,
  buildDueClaimResult,
  CLAIM_BYTES_MAX,
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
const READ_DUE = parseRowsStatement(STATEMENTS.readDue)
const FIND_ONE = parseStatement(STATEMENTS.findOne)
const CLAIM = parseRowsStatement(STATEMENTS.claim)

/** Both statements begin with the columns of read-many.sql, so that one function reads the rows of all three. */
const DUE = COLUMNS.readDue satisfies typeof COLUMNS.readMany
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
  const due = limit === 0 ? [] : await session.all(fill(FIND_DUE, [until, formatMax, limit]))
  const ids = takeWithin(due, CLAIM_BYTES_MAX)
  const found = (await readDue(tx, ids)).map((row, i) => toFound(row, tokens[i] ?? ''))
  const claimed = await claimRows(tx, found, leaseMs)
  return { value: buildDueClaimResult(now, claimed), rows: claimed.length }
}

/** Takes the first rows, up to the one with which they have so many bytes. */
function takeWithin(due: readonly Row[], bytesMax: number): readonly number[] {
  const ids: number[] = []
  let bytes = 0
  for (const [id, rowBytes] of due) {
    if (bytes >= bytesMax) break
    ids.push(Number(id))
    bytes += Number(rowBytes)
  }
  return ids
}

async function readDue({ session }: Tx, ids: readonly number[]): Promise<readonly Row[]> {
  if (ids.length === 0) return []
  const literals = ids.map((id) => fill(READ_DUE.row, [id]))
  const rows = new Map((await session.readRows(READ_DUE, literals)).map((row) => [Number(row[DUE.id]), row]))
  return ids.map((id) => {
    const row = rows.get(id)
    assert(row !== undefined, 'a locked row that cannot be read')
    return row
  })
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
