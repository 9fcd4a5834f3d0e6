import assert from 'node:assert/strict'
import type { Store } from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'
import type { RaceResult } from './race-messages.ts'
import type { RacePeers } from './race-peers.ts'
import {
  aDueTransaction,
  asGid,
  aTransaction,
  createRow,
  drawToken,
  drawTokens,
  FORMAT,
  finishRow,
  read,
} from './transactions.ts'

export const SKEW_MS = 3_600_000
const LEASE_MS = 60_000
/** It is far less than the skew, and far more than a test takes. */
const SLACK_MS = 30_000

/** The left process is an hour behind, the right one an hour ahead. Only the store's clock may count. */
export async function assertNoPeerClock(store: Store, peers: RacePeers): Promise<void> {
  for (const peer of [0, 1] as const) {
    await assertLeases(store, peers, peer)
    await assertCreates(store, peers, peer)
    const end = await finishRow(store, `end-${peer}`, LEASE_MS)
    await peers.call(peer, { verb: 'purgeFinished', argument: 100 })
    assert.deepEqual(await read(store, end.gid), end)
  }
}

async function assertLeases(store: Store, peers: RacePeers, peer: 0 | 1): Promise<void> {
  const other = peer === 0 ? 1 : 0
  const gid = asGid(`skewed-${peer}`)
  await createRow(store, aDueTransaction(gid))
  const token = drawToken()
  assert.equal(readType(await claim(peers, peer, gid, token)), 'claimed')
  const row = await read(store, gid)
  await assertAhead(store, row.dueAt, LEASE_MS)
  assert.deepEqual(await claim(peers, other, gid, drawToken()), { type: 'refused', reason: 'held' })
  const argument = { limit: 10, tokens: drawTokens(10), leaseMs: LEASE_MS, formatMax: FORMAT }
  const due = await peers.call(other, { verb: 'claimDue', argument })
  assert.ok(due && 'claimed' in due)
  assert.deepEqual(due.claimed, [])
  const renewal = await peers.call(peer, { verb: 'renew', argument: [[{ gid, token }], LEASE_MS] })
  assert.ok(renewal && 'renewed' in renewal)
  assert.deepEqual(renewal.renewed, [{ gid, version: row.version }])
  await assertAhead(store, (await read(store, gid)).dueAt, LEASE_MS)
}

async function assertCreates(store: Store, peers: RacePeers, peer: 0 | 1): Promise<void> {
  const transaction = aTransaction(`created-${peer}`, { hold: { type: 'owned', leaseMs: LEASE_MS } })
  assert.equal(readType(await peers.call(peer, { verb: 'create', argument: transaction })), 'created')
  const row = await read(store, transaction.gid)
  await assertAhead(store, row.createdAt, 0)
  await assertAhead(store, row.dueAt, LEASE_MS)
}

async function claim(
  peers: RacePeers,
  peer: 0 | 1,
  gid: Gid,
  token: string,
): Promise<RaceResult | undefined> {
  return peers.call(peer, { verb: 'claim', argument: { gid, token, leaseMs: LEASE_MS, formatMax: FORMAT } })
}

function readType(result: RaceResult | undefined): string | undefined {
  return result && 'type' in result ? result.type : undefined
}

async function assertAhead(store: Store, instant: number, byMs: number): Promise<void> {
  const { now } = await store.stats()
  assert.ok(Math.abs(instant - (now + byMs)) < SLACK_MS, `${instant} is set by another clock than ${now}`)
}
