import assert from 'node:assert/strict'
import { PARKED_AT, POSTPONE_MAX, type Store, type StoredTransaction } from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'
import type { DefineTest, TestBed } from './store-fixture.ts'
import {
  aDueTransaction,
  asGid,
  aTransaction,
  BRIEF_LEASE_MS,
  claimed,
  created,
  dueGids,
  FORMAT,
  finished,
  read,
  rejectsWith,
  saved,
  updateOf,
} from './transactions.ts'

const BY_MS = 60_000

export function postponeSuite(test: DefineTest): void {
  test('a waiting row that is due is named, and due again when the time has passed', async (store, bed) => {
    const row = await created(store, aDueTransaction('a'))
    const assertWithin = await bed.startSpan(store)
    const { now, gids } = await store.postponeDue({ limit: 10, byMs: bed.leaseMs, formatMax: FORMAT })
    assert.deepEqual(gids, ['a'])
    const after = await read(store, 'a')
    assert.deepEqual(after, { ...row, dueAt: after.dueAt })
    await assertWithin(now, after.dueAt - bed.leaseMs)
    assert.ok(after.dueAt >= now + bed.leaseMs)
    assert.deepEqual(await postponedGids(store, 10), [])
    assert.deepEqual(await dueGids(store, 10), [])
    await bed.pass(store, bed.leaseMs)
    assert.deepEqual(await postponedGids(store, 10), ['a'])
  })

  test('an owner whose lease has run out loses the hold, and nothing else of the row changes', async (store, bed) => {
    const before = await expiredOwner(store, bed, 'a')
    assert.deepEqual(await postponedGids(store, 10), ['a'])
    const after = await read(store, 'a')
    assert.deepEqual(after, { ...before, owned: false, dueAt: after.dueAt })
    assert.ok(after.dueAt > before.dueAt)
  })

  test('what is not due, parked, of a newer format or final is left alone', async (store, bed) => {
    const expired = aTransaction('final', { hold: { type: 'owned', leaseMs: BRIEF_LEASE_MS } })
    await saved(store, updateOf(await created(store, expired), { type: 'finish', retentionMs: 3_600_000 }))
    await finished(store, 'kept', 'never')
    await created(store, aTransaction('held'))
    await created(store, aDueTransaction('later', { hold: { type: 'waiting', dueInMs: 3_600_000 } }))
    const parked = await created(store, aTransaction('parked'))
    await saved(store, updateOf(parked, { type: 'release', dueAt: PARKED_AT }))
    await created(store, aDueTransaction('newer', { format: FORMAT + 1 }))
    const gids = ['final', 'kept', 'held', 'later', 'parked', 'newer']
    const before = await Promise.all(gids.map((gid) => read(store, gid)))
    await bed.pass(store, BRIEF_LEASE_MS)
    const result = await store.postponeDue({ limit: 10, byMs: BY_MS, formatMax: FORMAT })
    assert.deepEqual(result.gids, [])
    assert.deepEqual(await Promise.all(gids.map((gid) => read(store, gid))), before)
    const newer = await store.postponeDue({ limit: 10, byMs: BY_MS, formatMax: FORMAT + 1 })
    assert.deepEqual(newer.gids, ['newer'])
  })

  test('rows of a newer format do not stand before the others', async (store) => {
    for (let i = 0; i < 5; i++) await created(store, aDueTransaction(`new-${i}`, { format: FORMAT + 1 }))
    await created(store, aDueTransaction('old'))
    assert.deepEqual(await postponedGids(store, 2), ['old'])
  })

  test('a row is due at its very instant, and postponed until its very instant', async (store, bed) => {
    if (!bed.hasExactClock) return
    await created(store, aDueTransaction('waiting', { hold: { type: 'waiting', dueInMs: 1_000 } }))
    await created(store, aTransaction('owned', { hold: { type: 'owned', leaseMs: 1_000 } }))
    await bed.pass(store, 999)
    assert.deepEqual(await postponedGids(store, 10), [])
    await bed.pass(store, 1)
    assert.deepEqual([...(await postponedGids(store, 10))].sort(), ['owned', 'waiting'])
    await bed.pass(store, BY_MS - 1)
    assert.deepEqual(await dueGids(store, 10), [])
    await bed.pass(store, 1)
    assert.deepEqual([...(await dueGids(store, 10))].sort(), ['owned', 'waiting'])
  })

  test('due rows are postponed oldest first, up to the limit', async (store, bed) => {
    const delays = [40, 0, 30, 10, 20]
    for (const dueInMs of delays) {
      await created(store, aDueTransaction(`due-${dueInMs}`, { hold: { type: 'waiting', dueInMs } }))
      if (!bed.hasExactClock) await bed.pass(store, 1)
    }
    await bed.pass(store, 100)
    const rows = await store.readMany(delays.map((dueInMs) => asGid(`due-${dueInMs}`)))
    // Among rows of one instant any order is right.
    const dueAt = new Map(rows.map((row) => [row.gid, row.dueAt]))
    const oldestFirst = [...dueAt.values()].sort((a, b) => a - b)
    const due = async (limit: number) => (await postponedGids(store, limit)).map((gid) => dueAt.get(gid))
    assert.deepEqual(await due(2), oldestFirst.slice(0, 2))
    assert.deepEqual(await due(0), [])
    assert.deepEqual(await due(100), oldestFirst.slice(2))
  })

  test('whoever goes on until nothing more can be due has named every row once', async (store, bed) => {
    const gids = Array.from({ length: POSTPONE_MAX + 40 }, (_, i) => asGid(`t-${i}`))
    // Some with a text that a store may not want to touch too many of in one call.
    const progress = 'p'.repeat(30_000)
    await Promise.all(
      gids.map((gid, i) =>
        store.create(
          i % 10 === 0
            ? aTransaction(gid, { hold: { type: 'owned', leaseMs: 1 }, progress })
            : aDueTransaction(gid),
        ),
      ),
    )
    await bed.pass(store, 1)
    const named: Gid[] = []
    for (let mayBeMore = true; mayBeMore; ) {
      const result = await store.postponeDue({ limit: POSTPONE_MAX, byMs: 3_600_000, formatMax: FORMAT })
      named.push(...result.gids)
      mayBeMore = result.gids.length === POSTPONE_MAX || (result.mayBeMore ?? false)
    }
    assert.deepEqual([...named].sort(), [...gids].sort())
  })

  test('a claim takes a postponed row at once, under a new token and epoch', async (store, bed) => {
    const held = await expiredOwner(store, bed, 'held')
    await created(store, aDueTransaction('released', { sentList: 'released' }))
    assert.equal((await postponedGids(store, 10)).length, 2)
    const [taken, resumed] = [await claimed(store, 'held', 10_000), await claimed(store, 'released', 10_000)]
    assert.notEqual(taken.token, held.token)
    // Nobody has said that the list of whoever held it is complete.
    assert.deepEqual([taken.epoch, taken.sentList, taken.owned], [held.epoch + 1, 'unknown', true])
    assert.deepEqual([resumed.epoch, resumed.sentList, resumed.owned], [2, 'held', true])
    assert.equal((await store.update(updateOf(held, { type: 'keep' }))).type, 'fenced')
  })

  test('what a former owner still saves under his token counts', async (store, bed) => {
    const rows = [
      await expiredOwner(store, bed, 'keep'),
      await expiredOwner(store, bed, 'release'),
      await expiredOwner(store, bed, 'finish'),
    ] as const
    assert.equal((await postponedGids(store, 10)).length, 3)
    const postponed = await read(store, 'keep')
    const kept = await saved(store, updateOf(rows[0], { type: 'keep' }, { progress: 'late' }))
    assert.deepEqual([kept.owned, kept.dueAt, kept.progress], [false, postponed.dueAt, 'late'])
    const release = { type: 'release', dueAt: rows[1].createdAt } as const
    const released = await saved(store, updateOf(rows[1], release, { sentList: 'released' }))
    assert.deepEqual([released.owned, released.dueAt], [false, rows[1].createdAt])
    const end = await saved(store, updateOf(rows[2], { type: 'finish', retentionMs: 3_600_000 }))
    assert.deepEqual([end.status, end.owned], ['succeeded', false])
    assert.equal((await claimed(store, 'keep', 10_000)).progress, 'late')
    assert.equal((await claimed(store, 'release', 10_000)).sentList, 'held')
  })

  test('a former owner has lost his lease, whether or not somebody has claimed the row', async (store, bed) => {
    const row = await expiredOwner(store, bed, 'a')
    assert.deepEqual(await postponedGids(store, 10), ['a'])
    const before = await read(store, 'a')
    const renewal = await store.renew([{ gid: row.gid, token: row.token }], 3_600_000)
    assert.deepEqual([renewal.renewed, renewal.lost], [[], ['a']])
    assert.deepEqual(await read(store, 'a'), before)
  })

  test('an owner who renews before anybody has postponed his row keeps it', async (store, bed) => {
    const row = await expiredOwner(store, bed, 'a')
    assert.equal((await store.renew([{ gid: row.gid, token: row.token }], 3_600_000)).renewed.length, 1)
    assert.deepEqual(await postponedGids(store, 10), [])
    assert.equal((await read(store, 'a')).owned, true)
  })

  test('a command makes a postponed row due at once', async (store, bed) => {
    await expiredOwner(store, bed, 'a')
    assert.deepEqual(await postponedGids(store, 10), ['a'])
    await saved(store, updateOf(await read(store, 'a'), { type: 'command' }, { status: 'aborting' }))
    assert.deepEqual(await dueGids(store, 10), ['a'])
  })

  test('two who postpone fifty rows at once name none twice, and all', async (store, bed) => {
    const other = store.capabilities.shared ? await bed.open() : store
    for (let round = 0; round < 4; round++) {
      const gids = Array.from({ length: 50 }, (_, i) => asGid(`t-${round}-${i}`))
      await Promise.all(gids.map((gid) => store.create(aDueTransaction(gid))))
      const limit = round % 2 === 0 ? 50 : 25
      const raced = await Promise.all([store, other].map((one) => postponedGids(one, limit)))
      // Two who meet may leave a row that each has left to the other.
      const named = [...raced.flat(), ...(await postponedGids(store, 50))]
      assert.deepEqual([...named].sort(), [...gids].sort())
    }
  })

  test('more than POSTPONE_MAX rows, or a row that stays due, is a bug', async (store) => {
    await created(store, aDueTransaction('a'))
    const postponement = { limit: 1, byMs: BY_MS, formatMax: FORMAT }
    await rejectsWith('SAGA_INTERNAL', () => store.postponeDue({ ...postponement, limit: POSTPONE_MAX + 1 }))
    await rejectsWith('SAGA_INTERNAL', () => store.postponeDue({ ...postponement, byMs: 0 }))
    assert.deepEqual(await dueGids(store, 10), ['a'])
  })
}

async function postponedGids(store: Store, limit: number, byMs = BY_MS): Promise<readonly Gid[]> {
  return (await store.postponeDue({ limit, byMs, formatMax: FORMAT })).gids
}

/** A row that has seen a claim and a save, and whose owner has not been heard of until after his lease. */
async function expiredOwner(store: Store, bed: TestBed, gid: string): Promise<StoredTransaction> {
  await created(store, aDueTransaction(gid, { definition: 'd' }))
  const taken = await claimed(store, gid, BRIEF_LEASE_MS)
  const row = await saved(store, updateOf(taken, { type: 'keep' }, { progress: 'p', attention: true }))
  await bed.pass(store, BRIEF_LEASE_MS)
  return row
}
