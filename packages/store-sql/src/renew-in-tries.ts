import { setTimeout as delay } from 'node:timers/promises'
import type { Lease, RenewResult } from '@counterstep/core'

/** A locked row is mostly in a flush of this node, and locked for as long as a COMMIT takes. */
const TRIES = 3
const PAUSE_MS = 50

/**
 * Renews leases by a function that skips locked rows, and asks it a few times for those that it has skipped. Waits for no lock. A
 * lease whose row stays locked is neither renewed nor lost, and the caller asks again at its next renewal.
 */
export async function renewInTries(
  leases: readonly Lease[],
  renewUnlocked: (leases: readonly Lease[]) => Promise<RenewResult>,
): Promise<RenewResult> {
  const first = await renewUnlocked(leases)
  const renewed = [...first.renewed]
  const lost = [...first.lost]
  for (let tries = 1; tries < TRIES && renewed.length + lost.length < leases.length; tries++) {
    await delay(PAUSE_MS)
    const settled = new Set([...renewed.map(({ gid }) => gid), ...lost])
    const more = await renewUnlocked(leases.filter(({ gid }) => !settled.has(gid)))
    renewed.push(...more.renewed)
    lost.push(...more.lost)
  }
  // The first try's clock is the earliest, so no lease ends before its owner expects.
  return { now: first.now, renewed, lost }
}
