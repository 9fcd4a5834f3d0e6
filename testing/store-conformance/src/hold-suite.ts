import assert from 'node:assert/strict'
import { NEVER_AT, PARKED_AT } from '@counterstep/core'
import type { DefineTest } from './store-fixture.ts'
import {
  aDueTransaction,
  asGid,
  aTransaction,
  BRIEF_LEASE_MS,
  claimDueGids,
  claimRow,
  createRow,
  drawToken,
  FORMAT,
  makeUpdate,
  read,
  rejectsWith,
  saveRow,
} from './transactions.ts'

export function holdSuite(test: DefineTest): void {
  test('An update that keeps leaves the owner and the due instant', async (store) => {
    const row = await createRow(store, aTransaction('a'))
    const after = await saveRow(store, makeUpdate(row, { type: 'keep' }))
    assert.deepEqual([after.owned, after.dueAt], [true, row.dueAt])
  })

  test('A release gives the row back until its instant', async (store) => {
    const row = await createRow(store, aTransaction('a'))
    const dueAt = row.createdAt + 3_600_000
    const after = await saveRow(store, makeUpdate(row, { type: 'release', dueAt }, { sentList: 'released' }))
    assert.deepEqual([after.owned, after.dueAt, after.sentList], [false, dueAt, 'released'])
    assert.deepEqual(await claimDueGids(store, 10), [])
  })

  test('A row released until now is due at once', async (store) => {
    const row = await createRow(store, aTransaction('a'))
    await saveRow(store, makeUpdate(row, { type: 'release', dueAt: row.createdAt }))
    assert.deepEqual(await claimDueGids(store, 10), ['a'])
  })

  test('A command leaves an owner its row and its lease', async (store) => {
    const row = await createRow(store, aTransaction('a'))
    const after = await saveRow(store, makeUpdate(row, { type: 'command', dueAt: 1 }, { status: 'aborting' }))
    assert.deepEqual([after.owned, after.dueAt, after.status], [true, row.dueAt, 'aborting'])
    assert.deepEqual(await claimDueGids(store, 10), [])
    const late = await store.update(makeUpdate(row, { type: 'keep' }))
    assert.deepEqual(late, { type: 'conflict', version: after.version })
  })

  test('A command makes a waiting row due', async (store) => {
    const row = await createRow(
      store,
      aDueTransaction('a', { hold: { type: 'waiting', dueInMs: 3_600_000 } }),
    )
    const after = await saveRow(store, makeUpdate(row, { type: 'command' }))
    assert.equal(after.owned, false)
    assert.equal(after.dueAt, after.updatedAt)
    assert.deepEqual(await claimDueGids(store, 10), ['a'])
  })

  test('A command may name the instant at which a waiting row is due', async (store) => {
    const row = await createRow(store, aDueTransaction('a'))
    const dueAt = row.createdAt + 3_600_000
    assert.equal((await saveRow(store, makeUpdate(row, { type: 'command', dueAt }))).dueAt, dueAt)
    assert.deepEqual(await claimDueGids(store, 10), [])
  })

  test('A parked row cannot be claimed until a command makes it due', async (store) => {
    const row = await createRow(store, aTransaction('a'))
    const parked = await saveRow(store, makeUpdate(row, { type: 'release', dueAt: PARKED_AT }))
    assert.deepEqual(await claimDueGids(store, 10), [])
    const claim = { gid: asGid('a'), token: drawToken(), leaseMs: 1, formatMax: FORMAT }
    assert.deepEqual(await store.claim(claim), { type: 'refused', reason: 'parked' })
    await saveRow(store, makeUpdate(parked, { type: 'command' }))
    assert.deepEqual(await claimDueGids(store, 10), ['a'])
  })

  test('A finished row cannot be claimed, renewed or changed', async (store, fixture) => {
    const row = await createRow(
      store,
      aTransaction('a', { hold: { type: 'owned', leaseMs: BRIEF_LEASE_MS } }),
    )
    const end = await saveRow(store, makeUpdate(row, { type: 'finish', retentionMs: 3_600_000 }))
    assert.deepEqual([end.status, end.owned, end.dueAt], ['succeeded', false, end.updatedAt + 3_600_000])
    await fixture.pass(store, BRIEF_LEASE_MS)
    assert.deepEqual(await claimDueGids(store, 10), [])
    const claim = { gid: end.gid, token: drawToken(), leaseMs: 1, formatMax: FORMAT }
    assert.deepEqual(await store.claim(claim), { type: 'refused', reason: 'final' })
    const renewal = await store.renew([{ gid: end.gid, token: end.token }], 1_000)
    assert.deepEqual([renewal.renewed, renewal.lost], [[], ['a']])
    const late = { status: 'submitted' } as const
    for (const version of [row.version, end.version]) {
      const result = await store.update(makeUpdate(end, { type: 'keep' }, { ...late, version }))
      assert.deepEqual(result, { type: 'conflict', version: end.version })
    }
    assert.deepEqual(await read(store, 'a'), end)
  })

  test('A finished row with retention "never" has the last purge instant', async (store) => {
    const row = await createRow(store, aTransaction('a'))
    assert.equal(
      (await saveRow(store, makeUpdate(row, { type: 'finish', retentionMs: 'never' }))).dueAt,
      NEVER_AT,
    )
  })

  test('A final status without finish, and finish without a final status, are bugs', async (store) => {
    const row = await createRow(store, aTransaction('a'))
    const finish = { type: 'finish', retentionMs: 1 } as const
    await rejectsWith('SAGA_INTERNAL', () =>
      store.update(makeUpdate(row, { type: 'keep' }, { status: 'failed' })),
    )
    await rejectsWith('SAGA_INTERNAL', () => store.update(makeUpdate(row, finish, { status: 'aborting' })))
    assert.deepEqual(await read(store, 'a'), row)
  })

  test('Claims are counted until any update', async (store, fixture) => {
    let row = await createRow(store, aDueTransaction('a'))
    const holds = [
      { type: 'keep' },
      { type: 'release', dueAt: row.createdAt },
      { type: 'command' },
      { type: 'finish', retentionMs: 1_000 },
    ] as const
    for (const hold of holds) {
      for (const count of [1, 2]) {
        row = await claimRow(store, 'a', BRIEF_LEASE_MS)
        assert.equal(row.claimsWithoutProgress, count)
        await fixture.pass(store, BRIEF_LEASE_MS)
      }
      assert.equal((await saveRow(store, makeUpdate(row, hold))).claimsWithoutProgress, 0)
    }
  })
}
