import type { Lease, RenewResult } from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'
import { renewInTries, toText } from '@counterstep/store-sql'
import { COLUMNS, STATEMENTS } from '../generated/sql.ts'
import type { Session } from '../sessions/session.ts'
import { fill, parseRowsStatement } from '../sessions/statement.ts'
import type { DatabaseTransactions } from '../transactions/database-transactions.ts'
import { ensureOwnRedo } from '../transactions/own-redo.ts'
import type { Tx, Work } from '../transactions/transaction-protocol.ts'

const FIND_RENEWABLE = parseRowsStatement(STATEMENTS.findRenewable)
const ROW = COLUMNS.findRenewable
const RENEW = parseRowsStatement(STATEMENTS.renew)
const READ_OWNED = parseRowsStatement(STATEMENTS.readOwned)

export function renewLeases(
  transactions: DatabaseTransactions,
  leases: readonly Lease[],
  leaseMs: number,
): Promise<RenewResult> {
  return renewInTries(leases, (left) => transactions.run((tx) => renewUnlocked(tx, left, leaseMs)))
}

async function renewUnlocked(tx: Tx, leases: readonly Lease[], leaseMs: number): Promise<Work<RenewResult>> {
  const { session, now } = tx
  if (leases.length === 0) return { value: { now, renewed: [], lost: [] }, rows: 0 }
  // The keys are in order, because the flushes take their locks in that order.
  const sorted = [...leases].sort((a, b) => (a.gid < b.gid ? -1 : 1))
  const found = await session.readRows(FIND_RENEWABLE, sorted.map(fillLease))
  if (found.length > 0) {
    const ids = found.map((row) => fill(RENEW.row, [Number(row[ROW.id])]))
    await session.runRows(RENEW, ids, [now + leaseMs])
    await ensureOwnRedo(tx)
  }
  const renewed = found.map((row) => ({
    gid: toText(row[ROW.gid]) as Gid,
    version: Number(row[ROW.version]),
  }))
  const gids = new Set(renewed.map(({ gid }) => gid))
  const missing = sorted.filter(({ gid }) => !gids.has(gid))
  const owned = await findOwned(session, missing)
  const lost = missing.map(({ gid }) => gid).filter((gid) => !owned.has(gid))
  return { value: { now, renewed, lost }, rows: found.length }
}

async function findOwned(session: Session, leases: readonly Lease[]): Promise<ReadonlySet<string>> {
  if (leases.length === 0) return new Set()
  const rows = await session.readRows(READ_OWNED, leases.map(fillLease))
  return new Set(rows.map((row) => toText(row[COLUMNS.readOwned.gid])))
}

function fillLease({ gid, token }: Lease): string {
  return fill(FIND_RENEWABLE.row, [gid, token])
}
