import type { Lease, RenewResult } from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'
import { renewInTries, toText } from '@counterstep/store-sql'
import { STATEMENTS } from '../generated/sql.ts'
import { withClock } from '../sql/with-clock.ts'
import type { WritingStatements } from './statements.ts'

const RENEW = withClock(STATEMENTS.renew)
const ROW = { now: 0, gid: 1, version: 2, isOwned: 3 } as const

export function renewLeases(
  statements: WritingStatements,
  leases: readonly Lease[],
  leaseMs: number,
): Promise<RenewResult> {
  return renewInTries(leases, (left) => renewUnlocked(statements, left, leaseMs))
}

async function renewUnlocked(
  statements: WritingStatements,
  leases: readonly Lease[],
  leaseMs: number,
): Promise<RenewResult> {
  const values = [leases.map(({ gid }) => gid), leases.map(({ token }) => token), leaseMs]
  const rows = await statements.run({ sql: RENEW, values }, leases.length)
  const asked = rows.filter((row) => row[ROW.gid] !== null)
  const renewed = asked
    .filter((row) => row[ROW.version] !== null)
    .map((row) => ({ gid: toText(row[ROW.gid]) as Gid, version: Number(row[ROW.version]) }))
  const lost = asked
    .filter((row) => row[ROW.version] === null && row[ROW.isOwned] === 0)
    .map((row) => toText(row[ROW.gid]) as Gid)
  return { now: Number(rows[0]?.[ROW.now]), renewed, lost }
}
