import {
  AssertionError,
  buildDueClaimResult,
  CLAIM_BYTES_MAX,
  type DueClaim,
  type DueClaimResult,
  PARKED_AT,
  type SingleClaim,
  type SingleClaimResult,
  type StoredTransaction,
  StoreUnavailableError,
  toKind,
  toSentList,
  toStatus,
} from '@counterstep/core'
import { type Row, toStoredTransaction } from '@counterstep/store-sql'
import { COLUMNS, STATEMENTS } from '../generated/sql.ts'
import { withClock } from '../sql/with-clock.ts'
import type { WritingStatements } from './statements.ts'

const CLAIM_DUE = withClock(STATEMENTS.claimDue)
const CLAIM_ONE = withClock(STATEMENTS.claimOne)
const FIND_REFUSAL = withClock(STATEMENTS.findRefusal)
/** Both claims return the columns of read-many.sql, and the clock behind them. */
const NOW = Object.keys(COLUMNS.readMany).length
const REFUSED = { live: 0, owned: 1, dueAt: 2, format: 3, kind: 4, status: 5, sentList: 6, now: 7 } as const
/** A row that changes between the claim and the look at it is claimed again, at most so often. */
const LOOKS_MAX = 5

export async function claimDue(statements: WritingStatements, claim: DueClaim): Promise<DueClaimResult> {
  const { limit, leaseMs, tokens, formatMax } = claim
  const rows = await statements.run(
    { sql: CLAIM_DUE, values: [formatMax, limit, CLAIM_BYTES_MAX, tokens, leaseMs] },
    limit,
  )
  // Without a row to claim there is one that has the clock alone.
  const claimed = rows.filter(([gid]) => gid !== null).map(readClaimed)
  return buildDueClaimResult(Number(rows[0]?.[NOW]), claimed)
}

export async function claimOne(
  statements: WritingStatements,
  claim: SingleClaim,
): Promise<SingleClaimResult> {
  const { gid, token, leaseMs, formatMax } = claim
  for (let looks = 0; looks < LOOKS_MAX; looks++) {
    const [row] = await statements.run({ sql: CLAIM_ONE, values: [token, leaseMs, gid, formatMax] }, 1)
    if (row !== undefined) return { type: 'claimed', transaction: readClaimed(row), now: Number(row[NOW]) }
    const [found] = await statements.run({ sql: FIND_REFUSAL, values: [gid] }, 0)
    const reason = findRefusal(found, formatMax)
    if (reason !== undefined) return { type: 'refused', reason }
  }
  throw new StoreUnavailableError('a row changes with each look at it', { applied: 'no' })
}

/** Returns undefined if nothing speaks against a claim any more. */
function findRefusal(
  row: Row | undefined,
  formatMax: number,
): (SingleClaimResult & { type: 'refused' })['reason'] | undefined {
  if (row === undefined) return 'absent'
  const dueAt = Number(row[REFUSED.dueAt])
  if (row[REFUSED.live] !== 1) return 'final'
  if (dueAt >= PARKED_AT) return 'parked'
  if (row[REFUSED.owned] === 1 && dueAt > Number(row[REFUSED.now])) return 'held'
  const isKnown =
    toKind(row[REFUSED.kind]) !== undefined &&
    toStatus(row[REFUSED.status]) !== undefined &&
    toSentList(row[REFUSED.sentList]) !== undefined
  // Codes that this version does not know are a newer format, whatever the number says.
  return Number(row[REFUSED.format]) > formatMax || !isKnown ? 'format' : undefined
}

function readClaimed(row: Row): StoredTransaction {
  const transaction = toStoredTransaction(row)
  if (transaction === undefined) throw new AssertionError('a claim of a row with unknown codes')
  return transaction
}
