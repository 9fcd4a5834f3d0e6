import assert from 'node:assert/strict'
import type { Store } from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'
import type { RaceResult } from './race-messages.ts'
import type { RacePeers } from './race-peers.ts'
import {
  aDueTransaction,
  asGid,
  aTransaction,
  created,
  drawToken,
  drawTokens,
  FORMAT,
  finished,
  read,
} from './transactions.ts'

export const SKEW_MS = 3_600_000
const LEASE_MS = 60_000
/** Far less than the skew, far more than a test takes. */
const SLACK_MS = 30_000

/** The left process is an hour behind, the right one an hour ahead. Only the store's clock may count. */
export async function provesNoPeerClock(store: Store, peers: RacePeers): Promise<void> {
  for (const peer of [0, 1] as const) {
    await leasesRun(store, peers, peer)
    await createsNow(store, peers, peer)
    const end = await finished(store, `end-${peer}`, LEASE_MS)
    await peers.call(peer, { verb: 'purgeFinished', argument: 100 })
    assert.deepEqual(await read(store, end.gid), end)
  }
}

async function leasesRun(store: Store, peers: RacePeers, peer: 0 | 1): Promise<void> {
  const other = peer === 0 ? 1 : 0
  const gid = asGid(`skewed-${peer}`)
  await created(store, aDueTransaction(gid))
  const token = drawToken()
  assert.equal(typeOf(await claim(peers, peer, gid, token)), 'claimed')
  const row = await read(store, gid)
  await isAhead(store, row.dueAt, LEASE_MS)
  assert.deepEqual(await claim(peers, other, gid, drawToken()), { type: 'refused', reason: 'held' })
  const argument = { limit: 10, tokens: drawTokens(10), leaseMs: LEASE_MS, formatMax: FORMAT }
  const due = await peers.call(other, { verb: 'claimDue', argument })
  assert.ok(due && 'claimed' in due)
  assert.deepEqual(due.claimed, [])
  const renewal = await peers.call(peer, { verb: 'renew', argument: [[{ gid, token }], LEASE_MS] })
  assert.ok(renewal && 'renewed' in renewal)
  assert.deepEqual(renewal.renewed, [{ gid, version: row.version }])
  await isAhead(store, (await read(store, gid)).dueAt, LEASE_MS)
}

async function createsNow(store: Store, peers: RacePeers, peer: 0 | 1): Promise<void> {
  const transaction = aTransaction(`created-${peer}`, { hold: { type: 'owned', leaseMs: LEASE_MS } })
  assert.equal(typeOf(await peers.call(peer, { verb: 'create', argument: transaction })), 'created')
  const row = await read(store, transaction.gid)
  await isAhead(store, row.createdAt, 0)
  await isAhead(store, row.dueAt, LEASE_MS)
}

async function claim(
  peers: RacePeers,
  peer: 0 | 1,
  gid: Gid,
  token: string,
): Promise<RaceResult | undefined> {
  return peers.call(peer, { verb: 'claim', argument: { gid, token, leaseMs: LEASE_MS, formatMax: FORMAT } })
}

function typeOf(result: RaceResult | undefined): string | undefined {
  return result && 'type' in result ? result.type : undefined
}

async function isAhead(store: Store, instant: number, byMs: number): Promise<void> {
  const { now } = await store.stats()
  assert.ok(Math.abs(instant - (now + byMs)) < SLACK_MS, `${instant} is set by another clock than ${now}`)
}
