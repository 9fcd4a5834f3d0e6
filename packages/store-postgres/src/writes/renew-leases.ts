import { setTimeout as delay } from 'node:timers/promises'
import type { Lease, RenewResult } from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'
import { toText } from '@counterstep/store-sql'
import { STATEMENTS } from '../generated/sql.ts'
import { withClock } from '../sql/with-clock.ts'
import type { WritingStatements } from './statements.ts'

const RENEW = withClock(STATEMENTS.renew)
const ROW = { now: 0, gid: 1, version: 2, isOwned: 3 } as const

/** A locked row is mostly in a flush of this node, and locked for as long as a COMMIT takes. */
const TRIES = 3
const PAUSE_MS = 50

/** Waits for no lock. A lease whose row stays locked is neither renewed nor lost, and the caller asks again at its next renewal. */
export async function renewLeases(
  statements: WritingStatements,
  leases: readonly Lease[],
  leaseMs: number,
): Promise<RenewResult> {
  const first = await renewUnlocked(statements, leases, leaseMs)
  const renewed = [...first.renewed]
  const lost = [...first.lost]
  for (let tries = 1; tries < TRIES && renewed.length + lost.length < leases.length; tries++) {
    await delay(PAUSE_MS)
    const settled = new Set([...renewed.map(({ gid }) => gid), ...lost])
    const left = leases.filter(({ gid }) => !settled.has(gid))
    const more = await renewUnlocked(statements, left, leaseMs)
    renewed.push(...more.renewed)
    lost.push(...more.lost)
  }
  // The first try's clock is the earliest, so no lease ends before its owner expects.
  return { now: first.now, renewed, lost }
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
