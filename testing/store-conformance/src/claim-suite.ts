import assert from 'node:assert/strict'
import { PARKED_AT, type SentList } from '@counterstep/core'
import type { DefineTest } from './store-fixture.ts'
import {
  aDueTransaction,
  asGid,
  assertRaised,
  aTransaction,
  BRIEF_LEASE_MS,
  claimed,
  created,
  drawToken,
  drawTokens,
  dueGids,
  FORMAT,
  read,
  rejectsWith,
  saved,
  updateOf,
} from './transactions.ts'

export function claimSuite(test: DefineTest): void {
  test('a claim takes a due row under a new token, epoch and version', async (store) => {
    const row = await created(store, aDueTransaction('a'))
    const token = drawToken()
    const result = await store.claim({ gid: row.gid, token, leaseMs: 7_000, formatMax: FORMAT })
    assert.ok(result.type === 'claimed')
    assert.deepEqual(result.transaction, {
      ...row,
      token,
      epoch: 2,
      version: result.transaction.version,
      owned: true,
      sentList: 'held',
      claimsWithoutProgress: 1,
      dueAt: result.now + 7_000,
    })
    assertRaised(result.transaction.version, row.version)
    assert.deepEqual(await read(store, 'a'), result.transaction)
  })

  test('a claim of one gid takes a waiting row before it is due', async (store) => {
    await created(store, aDueTransaction('a', { hold: { type: 'waiting', dueInMs: 3_600_000 } }))
    assert.equal((await claimed(store, 'a', 1_000)).owned, true)
  })

  test('a claim is refused with the reason', async (store) => {
    const row = await created(store, aTransaction('held'))
    await saved(
      store,
      updateOf(await created(store, aTransaction('parked')), { type: 'release', dueAt: PARKED_AT }),
    )
    await created(store, aDueTransaction('format', { format: FORMAT + 1 }))
    await saved(
      store,
      updateOf(await created(store, aTransaction('final')), { type: 'finish', retentionMs: 'never' }),
    )
    for (const reason of ['held', 'parked', 'format', 'final', 'absent'] as const) {
      const claim = { gid: asGid(reason), token: drawToken(), leaseMs: 1_000, formatMax: FORMAT }
      assert.deepEqual(await store.claim(claim), { type: 'refused', reason })
    }
    assert.deepEqual(await read(store, 'held'), row)
  })

  test('a second claim returns nothing until the lease ends', async (store, bed) => {
    await created(store, aDueTransaction('a'))
    assert.deepEqual(await dueGids(store, 10, bed.leaseMs), ['a'])
    assert.deepEqual(await dueGids(store, 10, bed.leaseMs), [])
    await bed.pass(store, bed.leaseMs)
    assert.deepEqual(await dueGids(store, 10, bed.leaseMs), ['a'])
  })

  test('a lease that ends under its owner fences him', async (store, bed) => {
    const row = await created(store, aTransaction('a', { hold: { type: 'owned', leaseMs: BRIEF_LEASE_MS } }))
    await bed.pass(store, BRIEF_LEASE_MS)
    const next = await claimed(store, 'a', 10_000)
    assert.notEqual(next.token, row.token)
    assert.deepEqual([next.epoch, next.sentList], [2, 'unknown'])
    for (const version of [row.version, next.version]) {
      assert.equal((await store.update(updateOf(row, { type: 'keep' }, { version }))).type, 'fenced')
    }
    const renewal = await store.renew([{ gid: row.gid, token: row.token }], 10_000)
    assert.deepEqual([renewal.renewed, renewal.lost], [[], ['a']])
    assert.deepEqual(await read(store, 'a'), next)
    assert.equal((await store.update(updateOf(next, { type: 'keep' }))).type, 'saved')
  })

  test('a lease is over at its very instant, and not before', async (store, bed) => {
    if (!bed.hasExactClock) return
    await created(store, aTransaction('a', { hold: { type: 'owned', leaseMs: 1_000 } }))
    await created(store, aTransaction('b', { hold: { type: 'owned', leaseMs: 1_000 } }))
    await bed.pass(store, 999)
    assert.deepEqual(await dueGids(store, 10), [])
    const claim = { gid: asGid('a'), leaseMs: 1_000, formatMax: FORMAT }
    assert.deepEqual(await store.claim({ ...claim, token: drawToken() }), { type: 'refused', reason: 'held' })
    await bed.pass(store, 1)
    assert.equal((await store.claim({ ...claim, token: drawToken() })).type, 'claimed')
    assert.deepEqual(await dueGids(store, 10), ['b'])
  })

  test('a waiting row is due at its very instant, and not before', async (store, bed) => {
    if (!bed.hasExactClock) return
    await created(store, aDueTransaction('a', { hold: { type: 'waiting', dueInMs: 1_000 } }))
    await bed.pass(store, 999)
    assert.deepEqual(await dueGids(store, 10), [])
    await bed.pass(store, 1)
    assert.deepEqual(await dueGids(store, 10), ['a'])
  })

  test('due rows are claimed oldest first, up to the limit', async (store, bed) => {
    const delays = [40, 0, 30, 10, 20]
    for (const dueInMs of delays) {
      await created(store, aDueTransaction(`due-${dueInMs}`, { hold: { type: 'waiting', dueInMs } }))
      // Apart by more than the delays differ, in the other direction of time only where the clock is exact.
      if (!bed.hasExactClock) await bed.pass(store, 1)
    }
    await bed.pass(store, 100)
    const rows = await store.readMany(delays.map((dueInMs) => asGid(`due-${dueInMs}`)))
    // Among rows of one instant any order is right.
    const dueAt = new Map(rows.map((row) => [row.gid, row.dueAt]))
    const oldestFirst = [...dueAt.values()].sort((a, b) => a - b)
    const due = async (limit: number) => (await dueGids(store, limit)).map((gid) => dueAt.get(gid))
    assert.deepEqual(await due(2), oldestFirst.slice(0, 2))
    assert.deepEqual(await due(0), [])
    assert.deepEqual(await due(100), oldestFirst.slice(2))
  })

  test('claimDue returns the rows as they are after the claim', async (store, bed) => {
    const { version } = await created(store, aDueTransaction('a', { definition: 'd', progress: 'p' }))
    const tokens = drawTokens(3)
    const assertWithin = await bed.startSpan(store)
    const result = await store.claimDue({ limit: 3, leaseMs: 5_000, tokens, formatMax: FORMAT })
    assert.deepEqual(result.claimed, [await read(store, 'a')])
    const [row] = result.claimed
    assert.ok(row !== undefined && tokens.includes(row.token))
    assertRaised(row.version, version)
    assert.deepEqual([row.owned, row.definition, row.progress], [true, 'd', 'p'])
    await assertWithin(result.now, row.dueAt - 5_000)
  })

  test('rows of a newer format are left alone and do not stand before the others', async (store) => {
    for (let i = 0; i < 5; i++) await created(store, aDueTransaction(`new-${i}`, { format: FORMAT + 1 }))
    await created(store, aDueTransaction('old'))
    assert.deepEqual(await dueGids(store, 2), ['old'])
    const tokens = drawTokens(10)
    const newer = await store.claimDue({ limit: 10, leaseMs: 1_000, tokens, formatMax: FORMAT + 1 })
    assert.equal(newer.claimed.length, 5)
  })

  test('a claim trusts only a released sent list', async (store) => {
    const after: Record<SentList, SentList> = { released: 'held', held: 'unknown', unknown: 'unknown' }
    for (const [sentList, expected] of Object.entries(after) as [SentList, SentList][]) {
      await created(store, aDueTransaction(`one-${sentList}`, { sentList }))
      assert.equal((await claimed(store, `one-${sentList}`, 10_000)).sentList, expected)
      await created(store, aDueTransaction(`due-${sentList}`, { sentList }))
      assert.deepEqual(await dueGids(store, 10), [`due-${sentList}`])
      assert.equal((await read(store, `due-${sentList}`)).sentList, expected)
    }
  })

  test('more than CLAIM_MAX rows, or fewer tokens than rows, is a bug', async (store) => {
    const claim = { leaseMs: 1_000, formatMax: FORMAT }
    await rejectsWith('SAGA_INTERNAL', () =>
      store.claimDue({ ...claim, limit: 101, tokens: drawTokens(101) }),
    )
    await rejectsWith('SAGA_INTERNAL', () => store.claimDue({ ...claim, limit: 2, tokens: drawTokens(1) }))
  })
}
