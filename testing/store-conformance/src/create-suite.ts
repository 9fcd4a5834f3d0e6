import assert from 'node:assert/strict'
import { PARKED_AT } from '@counterstep/core'
import type { DefineTest } from './store-fixture.ts'
import {
  aDueTransaction,
  asGid,
  aTransaction,
  BRIEF_LEASE_MS,
  claimRow,
  createRow,
  finishRow,
  makeDigest,
  makeUpdate,
  read,
  saveRow,
} from './transactions.ts'

export function createSuite(test: DefineTest): void {
  test('A created row is read back as it was given', async (store) => {
    const transaction = aTransaction('order-1', {
      kind: 'tcc',
      status: 'prepared',
      format: 3,
      sentList: 'unknown',
    })
    const result = await store.create(transaction)
    assert.ok(result.type === 'created')
    assert.equal(result.createdAt, result.now)
    const { hold: _, ...given } = transaction
    assert.deepEqual(await read(store, 'order-1'), {
      ...given,
      version: 1,
      epoch: 1,
      owned: true,
      claimsWithoutProgress: 0,
      retrying: false,
      attention: false,
      createdAt: result.createdAt,
      updatedAt: result.createdAt,
      dueAt: result.createdAt + 10_000,
    })
  })

  test('A row created waiting has no owner and is due after its delay', async (store) => {
    const row = await createRow(
      store,
      aDueTransaction('order-1', { hold: { type: 'waiting', dueInMs: 5_000 } }),
    )
    assert.equal(row.owned, false)
    assert.equal(row.dueAt, row.createdAt + 5_000)
  })

  test('A second create of a gid is told what exists, whatever its content', async (store) => {
    const row = await createRow(store, aTransaction('order-1'))
    for (const digest of [row.digest, makeDigest('b')]) {
      const result = await store.create(
        aTransaction('order-1', { digest, definition: '{"other":1}', status: 'prepared' }),
      )
      assert.ok(result.type === 'exists')
      assert.equal(result.digest, row.digest)
      assert.equal(result.status, 'submitted')
    }
    assert.deepEqual(await read(store, 'order-1'), row)
  })

  test('A create of a finished gid is told its final status', async (store) => {
    const row = await createRow(store, aTransaction('order-1'))
    await saveRow(store, makeUpdate(row, { type: 'finish', retentionMs: 'never' }, { status: 'failed' }))
    const result = await store.create(aTransaction('order-1'))
    assert.ok(result.type === 'exists')
    assert.equal(result.status, 'failed')
  })

  test('A create sent again with its writeId is the same write', async (store, fixture) => {
    const transaction = aTransaction('order-1')
    const row = await createRow(store, transaction)
    await fixture.pass(store, 20)
    const again = await store.create(transaction)
    assert.ok(again.type === 'created')
    assert.equal(again.createdAt, row.createdAt)
    assert.ok(again.now >= row.createdAt + 20)
    assert.deepEqual(await read(store, 'order-1'), row)
  })

  test('A create sent again after another owner has claimed the row is told that it exists', async (store, fixture) => {
    const transaction = aTransaction('order-1', { hold: { type: 'owned', leaseMs: BRIEF_LEASE_MS } })
    await createRow(store, transaction)
    await fixture.pass(store, BRIEF_LEASE_MS)
    await claimRow(store, 'order-1', 10_000)
    assert.equal((await store.create(transaction)).type, 'exists')
  })

  test('Gids are compared by their bytes', async (store) => {
    const gids = ['a', 'A', 'order-1', 'order-10', 'order-1.', 'order_1', '~', '!', '-', 'x'.repeat(128)]
    for (const gid of gids) await createRow(store, aTransaction(gid, { definition: gid }))
    for (const gid of gids) assert.equal((await read(store, gid)).definition, gid)
    assert.equal((await store.readMany([asGid('ORDER-1'), asGid('order-'), asGid('order')])).length, 0)
  })

  test('readMany returns the rows that exist, each once', async (store) => {
    await createRow(store, aTransaction('a'))
    await createRow(store, aTransaction('b'))
    const rows = await store.readMany(['a', 'b', 'none', 'a'].map(asGid))
    assert.deepEqual(rows.map((row) => row.gid).sort(), ['a', 'b'])
    assert.deepEqual(await store.readMany([]), [])
  })

  test('findFinal names the rows that are final, each once', async (store) => {
    for (const gid of ['b', 'A']) await createRow(store, aTransaction(gid))
    await finishRow(store, 'a', 'never')
    const gids = ['a', 'b', 'A', 'none', 'a'].map(asGid)
    assert.deepEqual(await store.findFinal(gids), ['a'])
    assert.deepEqual(await store.findFinal([]), [])
  })

  test('Instants far ahead are kept exactly', async (store) => {
    const row = await createRow(store, aTransaction('a'))
    const parked = await saveRow(store, makeUpdate(row, { type: 'release', dueAt: PARKED_AT }))
    assert.equal(parked.dueAt, PARKED_AT)
  })
}
