import assert from 'node:assert/strict'
import { CLAIM_BYTES_MAX, PARKED_AT, type SentList } from '@counterstep/core'
import { KINDS } from '@counterstep/protocol'
import type { DefineTest } from './store-fixture.ts'
import {
  aDueTransaction,
  asGid,
  assertRaised,
  aTransaction,
  BRIEF_LEASE_MS,
  claimDueGids,
  claimRow,
  createRow,
  drawToken,
  drawTokens,
  FORMAT,
  makeUpdate,
  read,
  rejectsWith,
  saveRow,
} from './transactions.ts'

export function claimSuite(test: DefineTest): void {
  test('A claim takes a due row under a new token, epoch and version', async (store) => {
    const row = await createRow(store, aDueTransaction('a'))
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

  test('A claim of one gid takes a waiting row before it is due', async (store) => {
    await createRow(store, aDueTransaction('a', { hold: { type: 'waiting', dueInMs: 3_600_000 } }))
    assert.equal((await claimRow(store, 'a', 1_000)).owned, true)
  })

  test('Rows of every kind are claimed, one by one and as due rows, and keep their kind', async (store) => {
    for (const kind of KINDS) await createRow(store, aDueTransaction(`one-${kind}`, { kind }))
    for (const kind of KINDS) assert.equal((await claimRow(store, `one-${kind}`, 60_000)).kind, kind)
    for (const kind of KINDS) await createRow(store, aDueTransaction(`due-${kind}`, { kind }))
    const due = KINDS.map((kind) => `due-${kind}`)
    assert.deepEqual([...(await claimDueGids(store, 10))].sort(), [...due].sort())
    for (const kind of KINDS) assert.equal((await read(store, `due-${kind}`)).kind, kind)
  })

  test('A claim is refused with the reason', async (store) => {
    const row = await createRow(store, aTransaction('held'))
    await saveRow(
      store,
      makeUpdate(await createRow(store, aTransaction('parked')), { type: 'release', dueAt: PARKED_AT }),
    )
    await createRow(store, aDueTransaction('format', { format: FORMAT + 1 }))
    await saveRow(
      store,
      makeUpdate(await createRow(store, aTransaction('final')), { type: 'finish', retentionMs: 'never' }),
    )
    for (const reason of ['held', 'parked', 'format', 'final', 'absent'] as const) {
      const claim = { gid: asGid(reason), token: drawToken(), leaseMs: 1_000, formatMax: FORMAT }
      assert.deepEqual(await store.claim(claim), { type: 'refused', reason })
    }
    assert.deepEqual(await read(store, 'held'), row)
  })

  test('A claim of due rows ends behind the row with which they are large, and says that more may be due', async (store) => {
    const gids = Array.from({ length: 12 }, (_, at) => `large-${at}`)
    const definition = JSON.stringify({ note: 'x'.repeat(900_000) })
    for (const [at, gid] of gids.entries())
      await createRow(
        store,
        aDueTransaction(gid, { definition, hold: { type: 'waiting', dueInMs: at - 100 } }),
      )
    await createRow(store, aDueTransaction('small', { hold: { type: 'waiting', dueInMs: 0 } }))
    const claimed: string[] = []
    for (let mayBeMore = true; mayBeMore; ) {
      const result = await store.claimDue({
        limit: 100,
        leaseMs: 60_000,
        tokens: drawTokens(100),
        formatMax: FORMAT,
      })
      const bytes = result.claimed.reduce((sum, row) => sum + row.definition.length, 0)
      assert.ok(bytes < CLAIM_BYTES_MAX + 1_000_000, `${bytes} bytes`)
      claimed.push(...result.claimed.map(({ gid }) => gid))
      mayBeMore = result.mayBeMore === true
    }
    assert.deepEqual(claimed, [...gids, 'small'])
  })

  test('A second claim returns nothing until the lease ends', async (store, fixture) => {
    await createRow(store, aDueTransaction('a'))
    assert.deepEqual(await claimDueGids(store, 10, fixture.leaseMs), ['a'])
    assert.deepEqual(await claimDueGids(store, 10, fixture.leaseMs), [])
    await fixture.pass(store, fixture.leaseMs)
    assert.deepEqual(await claimDueGids(store, 10, fixture.leaseMs), ['a'])
  })

  test('An owner whose lease has ended is fenced', async (store, fixture) => {
    const row = await createRow(
      store,
      aTransaction('a', { hold: { type: 'owned', leaseMs: BRIEF_LEASE_MS } }),
    )
    await fixture.pass(store, BRIEF_LEASE_MS)
    const next = await claimRow(store, 'a', 10_000)
    assert.notEqual(next.token, row.token)
    assert.deepEqual([next.epoch, next.sentList], [2, 'unknown'])
    for (const version of [row.version, next.version]) {
      assert.equal((await store.update(makeUpdate(row, { type: 'keep' }, { version }))).type, 'fenced')
    }
    const renewal = await store.renew([{ gid: row.gid, token: row.token }], 10_000)
    assert.deepEqual([renewal.renewed, renewal.lost], [[], ['a']])
    assert.deepEqual(await read(store, 'a'), next)
    assert.equal((await store.update(makeUpdate(next, { type: 'keep' }))).type, 'saved')
  })

  test('A lease ends exactly at its time, and not before', async (store, fixture) => {
    if (!fixture.hasExactClock) return
    await createRow(store, aTransaction('a', { hold: { type: 'owned', leaseMs: 1_000 } }))
    await createRow(store, aTransaction('b', { hold: { type: 'owned', leaseMs: 1_000 } }))
    await fixture.pass(store, 999)
    assert.deepEqual(await claimDueGids(store, 10), [])
    const claim = { gid: asGid('a'), leaseMs: 1_000, formatMax: FORMAT }
    assert.deepEqual(await store.claim({ ...claim, token: drawToken() }), { type: 'refused', reason: 'held' })
    await fixture.pass(store, 1)
    assert.equal((await store.claim({ ...claim, token: drawToken() })).type, 'claimed')
    assert.deepEqual(await claimDueGids(store, 10), ['b'])
  })

  test('A waiting row is due exactly at its time, and not before', async (store, fixture) => {
    if (!fixture.hasExactClock) return
    await createRow(store, aDueTransaction('a', { hold: { type: 'waiting', dueInMs: 1_000 } }))
    await fixture.pass(store, 999)
    assert.deepEqual(await claimDueGids(store, 10), [])
    await fixture.pass(store, 1)
    assert.deepEqual(await claimDueGids(store, 10), ['a'])
  })

  test('Due rows are claimed oldest first, up to the limit', async (store, fixture) => {
    const delays = [40, 0, 30, 10, 20]
    for (const dueInMs of delays) {
      await createRow(store, aDueTransaction(`due-${dueInMs}`, { hold: { type: 'waiting', dueInMs } }))
      // The rows are created at different times if the clock is real.
      if (!fixture.hasExactClock) await fixture.pass(store, 1)
    }
    await fixture.pass(store, 100)
    const rows = await store.readMany(delays.map((dueInMs) => asGid(`due-${dueInMs}`)))
    // Rows with one due time may come in any order.
    const dueAt = new Map(rows.map((row) => [row.gid, row.dueAt]))
    const oldestFirst = [...dueAt.values()].sort((a, b) => a - b)
    const due = async (limit: number) => (await claimDueGids(store, limit)).map((gid) => dueAt.get(gid))
    assert.deepEqual(await due(2), oldestFirst.slice(0, 2))
    assert.deepEqual(await due(0), [])
    assert.deepEqual(await due(100), oldestFirst.slice(2))
  })

  test('claimDue returns the rows as they are after the claim', async (store, fixture) => {
    const { version } = await createRow(store, aDueTransaction('a', { definition: 'd', progress: 'p' }))
    const tokens = drawTokens(3)
    const assertWithin = await fixture.startSpan(store)
    const result = await store.claimDue({ limit: 3, leaseMs: 5_000, tokens, formatMax: FORMAT })
    assert.deepEqual(result.claimed, [await read(store, 'a')])
    const [row] = result.claimed
    assert.ok(row !== undefined && tokens.includes(row.token))
    assertRaised(row.version, version)
    assert.deepEqual([row.owned, row.definition, row.progress], [true, 'd', 'p'])
    await assertWithin(result.now, row.dueAt - 5_000)
  })

  test('Rows of a newer format are left alone and do not keep others from being claimed', async (store) => {
    for (let i = 0; i < 5; i++) await createRow(store, aDueTransaction(`new-${i}`, { format: FORMAT + 1 }))
    await createRow(store, aDueTransaction('old'))
    assert.deepEqual(await claimDueGids(store, 2), ['old'])
    const tokens = drawTokens(10)
    const newer = await store.claimDue({ limit: 10, leaseMs: 1_000, tokens, formatMax: FORMAT + 1 })
    assert.equal(newer.claimed.length, 5)
  })

  test('A claim trusts only a released sent list', async (store) => {
    const after: Record<SentList, SentList> = { released: 'held', held: 'unknown', unknown: 'unknown' }
    for (const [sentList, expected] of Object.entries(after) as [SentList, SentList][]) {
      await createRow(store, aDueTransaction(`one-${sentList}`, { sentList }))
      assert.equal((await claimRow(store, `one-${sentList}`, 10_000)).sentList, expected)
      await createRow(store, aDueTransaction(`due-${sentList}`, { sentList }))
      assert.deepEqual(await claimDueGids(store, 10), [`due-${sentList}`])
      assert.equal((await read(store, `due-${sentList}`)).sentList, expected)
    }
  })

  test('More than CLAIM_MAX rows, or fewer tokens than rows, is a bug', async (store) => {
    const claim = { leaseMs: 1_000, formatMax: FORMAT }
    await rejectsWith('SAGA_INTERNAL', () =>
      store.claimDue({ ...claim, limit: 101, tokens: drawTokens(101) }),
    )
    await rejectsWith('SAGA_INTERNAL', () => store.claimDue({ ...claim, limit: 2, tokens: drawTokens(1) }))
  })
}
