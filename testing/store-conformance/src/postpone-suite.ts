import assert from 'node:assert/strict'
import { PARKED_AT, POSTPONE_MAX, type Store, type StoredTransaction } from '@counterstep/core'
import { type Gid, KINDS } from '@counterstep/protocol'
import type { DefineTest, StoreFixture } from './store-fixture.ts'
import {
  aDueTransaction,
  asGid,
  aTransaction,
  BRIEF_LEASE_MS,
  claimDueGids,
  claimRow,
  createRow,
  FORMAT,
  finishRow,
  makeUpdate,
  read,
  rejectsWith,
  saveRow,
} from './transactions.ts'

const BY_MS = 60_000

export function postponeSuite(test: DefineTest): void {
  test('A postponement names a waiting row that is due, which is due again when the time has passed', async (store, fixture) => {
    const row = await createRow(store, aDueTransaction('a'))
    const assertWithin = await fixture.startSpan(store)
    const { now, gids } = await store.postponeDue({ limit: 10, byMs: fixture.leaseMs, formatMax: FORMAT })
    assert.deepEqual(gids, ['a'])
    const after = await read(store, 'a')
    assert.deepEqual(after, { ...row, dueAt: after.dueAt })
    await assertWithin(now, after.dueAt - fixture.leaseMs)
    assert.ok(after.dueAt >= now + fixture.leaseMs)
    assert.deepEqual(await postponeGids(store, 10), [])
    assert.deepEqual(await claimDueGids(store, 10), [])
    await fixture.pass(store, fixture.leaseMs)
    assert.deepEqual(await postponeGids(store, 10), ['a'])
  })

  test('An owner whose lease has run out loses the hold by a postponement, and nothing else of the row changes', async (store, fixture) => {
    const before = await makeExpired(store, fixture, 'a')
    assert.deepEqual(await postponeGids(store, 10), ['a'])
    const after = await read(store, 'a')
    assert.deepEqual(after, { ...before, owned: false, dueAt: after.dueAt })
    assert.ok(after.dueAt > before.dueAt)
  })

  test('Rows of every kind are postponed', async (store) => {
    for (const kind of KINDS) await createRow(store, aDueTransaction(kind, { kind }))
    assert.deepEqual([...(await postponeGids(store, 10))].sort(), [...KINDS].sort())
  })

  test('A postponement leaves a row alone that is not due, parked, of a newer format or final', async (store, fixture) => {
    const expired = aTransaction('final', { hold: { type: 'owned', leaseMs: BRIEF_LEASE_MS } })
    await saveRow(
      store,
      makeUpdate(await createRow(store, expired), { type: 'finish', retentionMs: 3_600_000 }),
    )
    await finishRow(store, 'kept', 'never')
    await createRow(store, aTransaction('held'))
    await createRow(store, aDueTransaction('later', { hold: { type: 'waiting', dueInMs: 3_600_000 } }))
    const parked = await createRow(store, aTransaction('parked'))
    await saveRow(store, makeUpdate(parked, { type: 'release', dueAt: PARKED_AT }))
    await createRow(store, aDueTransaction('newer', { format: FORMAT + 1 }))
    const gids = ['final', 'kept', 'held', 'later', 'parked', 'newer']
    const before = await Promise.all(gids.map((gid) => read(store, gid)))
    await fixture.pass(store, BRIEF_LEASE_MS)
    const result = await store.postponeDue({ limit: 10, byMs: BY_MS, formatMax: FORMAT })
    assert.deepEqual(result.gids, [])
    assert.deepEqual(await Promise.all(gids.map((gid) => read(store, gid))), before)
    const newer = await store.postponeDue({ limit: 10, byMs: BY_MS, formatMax: FORMAT + 1 })
    assert.deepEqual(newer.gids, ['newer'])
  })

  test('Rows of a newer format do not keep others from being postponed', async (store) => {
    for (let i = 0; i < 5; i++) await createRow(store, aDueTransaction(`new-${i}`, { format: FORMAT + 1 }))
    await createRow(store, aDueTransaction('old'))
    assert.deepEqual(await postponeGids(store, 2), ['old'])
  })

  test('A row is due exactly at its time, and postponed exactly until its time', async (store, fixture) => {
    if (!fixture.hasExactClock) return
    await createRow(store, aDueTransaction('waiting', { hold: { type: 'waiting', dueInMs: 1_000 } }))
    await createRow(store, aTransaction('owned', { hold: { type: 'owned', leaseMs: 1_000 } }))
    await fixture.pass(store, 999)
    assert.deepEqual(await postponeGids(store, 10), [])
    await fixture.pass(store, 1)
    assert.deepEqual([...(await postponeGids(store, 10))].sort(), ['owned', 'waiting'])
    await fixture.pass(store, BY_MS - 1)
    assert.deepEqual(await claimDueGids(store, 10), [])
    await fixture.pass(store, 1)
    assert.deepEqual([...(await claimDueGids(store, 10))].sort(), ['owned', 'waiting'])
  })

  test('Due rows are postponed oldest first, up to the limit', async (store, fixture) => {
    const delays = [40, 0, 30, 10, 20]
    for (const dueInMs of delays) {
      await createRow(store, aDueTransaction(`due-${dueInMs}`, { hold: { type: 'waiting', dueInMs } }))
      if (!fixture.hasExactClock) await fixture.pass(store, 1)
    }
    await fixture.pass(store, 100)
    const rows = await store.readMany(delays.map((dueInMs) => asGid(`due-${dueInMs}`)))
    // Rows with one due time may come in any order.
    const dueAt = new Map(rows.map((row) => [row.gid, row.dueAt]))
    const oldestFirst = [...dueAt.values()].sort((a, b) => a - b)
    const due = async (limit: number) => (await postponeGids(store, limit)).map((gid) => dueAt.get(gid))
    assert.deepEqual(await due(2), oldestFirst.slice(0, 2))
    assert.deepEqual(await due(0), [])
    assert.deepEqual(await due(100), oldestFirst.slice(2))
  })

  test('A caller that postpones until nothing more can be due has named every row once', async (store, fixture) => {
    const gids = Array.from({ length: POSTPONE_MAX + 40 }, (_, i) => asGid(`t-${i}`))
    // Some rows have a long text, of which a store may not want to write too many in one call.
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
    await fixture.pass(store, 1)
    const named: Gid[] = []
    for (let mayBeMore = true; mayBeMore; ) {
      const result = await store.postponeDue({ limit: POSTPONE_MAX, byMs: 3_600_000, formatMax: FORMAT })
      named.push(...result.gids)
      mayBeMore = result.gids.length === POSTPONE_MAX || (result.mayBeMore ?? false)
    }
    assert.deepEqual([...named].sort(), [...gids].sort())
  })

  test('A claim takes a postponed row at once, under a new token and epoch', async (store, fixture) => {
    const held = await makeExpired(store, fixture, 'held')
    await createRow(store, aDueTransaction('released', { sentList: 'released' }))
    assert.equal((await postponeGids(store, 10)).length, 2)
    const [taken, resumed] = [
      await claimRow(store, 'held', 10_000),
      await claimRow(store, 'released', 10_000),
    ]
    assert.notEqual(taken.token, held.token)
    // The former owner has not said that its list is complete.
    assert.deepEqual([taken.epoch, taken.sentList, taken.owned], [held.epoch + 1, 'unknown', true])
    assert.deepEqual([resumed.epoch, resumed.sentList, resumed.owned], [2, 'held', true])
    assert.equal((await store.update(makeUpdate(held, { type: 'keep' }))).type, 'fenced')
  })

  test('The former owner of a postponed row can still save under its token', async (store, fixture) => {
    const rows = [
      await makeExpired(store, fixture, 'keep'),
      await makeExpired(store, fixture, 'release'),
      await makeExpired(store, fixture, 'finish'),
    ] as const
    assert.equal((await postponeGids(store, 10)).length, 3)
    const postponed = await read(store, 'keep')
    const kept = await saveRow(store, makeUpdate(rows[0], { type: 'keep' }, { progress: 'late' }))
    assert.deepEqual([kept.owned, kept.dueAt, kept.progress], [false, postponed.dueAt, 'late'])
    const release = { type: 'release', dueAt: rows[1].createdAt } as const
    const released = await saveRow(store, makeUpdate(rows[1], release, { sentList: 'released' }))
    assert.deepEqual([released.owned, released.dueAt], [false, rows[1].createdAt])
    const end = await saveRow(store, makeUpdate(rows[2], { type: 'finish', retentionMs: 3_600_000 }))
    assert.deepEqual([end.status, end.owned], ['succeeded', false])
    assert.equal((await claimRow(store, 'keep', 10_000)).progress, 'late')
    assert.equal((await claimRow(store, 'release', 10_000)).sentList, 'held')
  })

  test('The former owner of a postponed row has lost its lease, even if the row is not claimed', async (store, fixture) => {
    const row = await makeExpired(store, fixture, 'a')
    assert.deepEqual(await postponeGids(store, 10), ['a'])
    const before = await read(store, 'a')
    const renewal = await store.renew([{ gid: row.gid, token: row.token }], 3_600_000)
    assert.deepEqual([renewal.renewed, renewal.lost], [[], ['a']])
    assert.deepEqual(await read(store, 'a'), before)
  })

  test('An owner that renews before its row is postponed keeps it', async (store, fixture) => {
    const row = await makeExpired(store, fixture, 'a')
    assert.equal((await store.renew([{ gid: row.gid, token: row.token }], 3_600_000)).renewed.length, 1)
    assert.deepEqual(await postponeGids(store, 10), [])
    assert.equal((await read(store, 'a')).owned, true)
  })

  test('A command makes a postponed row due at once', async (store, fixture) => {
    await makeExpired(store, fixture, 'a')
    assert.deepEqual(await postponeGids(store, 10), ['a'])
    await saveRow(store, makeUpdate(await read(store, 'a'), { type: 'command' }, { status: 'aborting' }))
    assert.deepEqual(await claimDueGids(store, 10), ['a'])
  })

  test('Two callers that postpone fifty rows at once name all of them, and none twice', async (store, fixture) => {
    const other = store.capabilities.shared ? await fixture.open() : store
    for (let round = 0; round < 4; round++) {
      const gids = Array.from({ length: 50 }, (_, i) => asGid(`t-${round}-${i}`))
      await Promise.all(gids.map((gid) => store.create(aDueTransaction(gid))))
      const limit = round % 2 === 0 ? 50 : 25
      const raced = await Promise.all([store, other].map((one) => postponeGids(one, limit)))
      // Two callers that meet may leave a row that each has left to the other.
      const named = [...raced.flat(), ...(await postponeGids(store, 50))]
      assert.deepEqual([...named].sort(), [...gids].sort())
    }
  })

  test('More than POSTPONE_MAX rows, or a row that stays due, is a bug', async (store) => {
    await createRow(store, aDueTransaction('a'))
    const postponement = { limit: 1, byMs: BY_MS, formatMax: FORMAT }
    await rejectsWith('SAGA_INTERNAL', () => store.postponeDue({ ...postponement, limit: POSTPONE_MAX + 1 }))
    await rejectsWith('SAGA_INTERNAL', () => store.postponeDue({ ...postponement, byMs: 0 }))
    assert.deepEqual(await claimDueGids(store, 10), ['a'])
  })
}

async function postponeGids(store: Store, limit: number, byMs = BY_MS): Promise<readonly Gid[]> {
  return (await store.postponeDue({ limit, byMs, formatMax: FORMAT })).gids
}

/** Makes a row that was claimed and saved, and whose owner's lease has then run out. */
async function makeExpired(store: Store, fixture: StoreFixture, gid: string): Promise<StoredTransaction> {
  await createRow(store, aDueTransaction(gid, { definition: 'd' }))
  const taken = await claimRow(store, gid, BRIEF_LEASE_MS)
  const row = await saveRow(store, makeUpdate(taken, { type: 'keep' }, { progress: 'p', attention: true }))
  await fixture.pass(store, BRIEF_LEASE_MS)
  return row
}
