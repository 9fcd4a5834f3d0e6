import assert from 'node:assert/strict'
import type { Store } from '@counterstep/core'
import { aDocument, CATEGORY } from './documents.ts'
import type { DefineTest } from './store-fixture.ts'
import {
  aDueTransaction,
  aTransaction,
  BRIEF_LEASE_MS,
  claimDueGids,
  claimRow,
  createRow,
  drawToken,
  drawTokens,
  FORMAT,
  finishRow,
  isStored,
  makeUpdate,
  read,
  rejectsWith,
  saveRow,
} from './transactions.ts'

export function closeSuite(test: DefineTest): void {
  test('Every call after close throws that the store is unavailable', async (store) => {
    const row = await createRow(store, aTransaction('a'))
    const claim = { leaseMs: 1, formatMax: FORMAT }
    await store.close()
    const calls = [
      () => store.create(aTransaction('b')),
      () => store.readMany([row.gid]),
      () => store.findFinal([row.gid]),
      () => store.update(makeUpdate(row, { type: 'keep' })),
      () => store.renew([], 1),
      () => store.claimDue({ ...claim, limit: 1, tokens: drawTokens(1) }),
      () => store.claim({ ...claim, gid: row.gid, token: drawToken() }),
      () => store.postponeDue({ limit: 1, byMs: 1, formatMax: FORMAT }),
      () => store.list({ limit: 1 }),
      () => store.stats(),
      () => store.purgeFinished(1),
      () => store.readDocuments(CATEGORY),
      () => store.writeDocument(aDocument('a')),
      () => store.removeDocument({ category: CATEGORY, key: 'a', expectedVersion: 1 }),
    ]
    for (const call of calls) await rejectsWith('SAGA_STORE_UNAVAILABLE', call)
  })

  test('A store may be closed twice', async (store) => {
    await Promise.all([store.close(), store.close()])
    await store.close()
  })

  test('The close of a store settles the writes that are queued', async (store, fixture) => {
    const creates = Array.from({ length: 50 }, (_, i) => store.create(aTransaction(`t-${i}`)))
    await store.close()
    for (const result of await Promise.all(creates)) assert.equal(result.type, 'created')
    const again = await fixture.open()
    assert.equal((await again.list({ limit: 100 })).items.length, again.capabilities.durable ? 50 : 0)
  })

  test('A store tells its class and name', async (store) => {
    assert.ok(['A', 'B', 'C'].includes(store.durabilityClass))
    assert.ok(['none', 'lossless', 'lossy'].includes(store.failover))
    assert.match(store.name, /^[a-z][a-z0-9-]*$/)
  })

  test('A durable store still has its rows when it is opened again, and another has none', async (store, fixture) => {
    const owned = await createRow(store, aTransaction('owned', { definition: 'ä💶\u0000' }))
    const waiting = await createRow(
      store,
      aDueTransaction('waiting', { hold: { type: 'waiting', dueInMs: 60_000 } }),
    )
    const end = await finishRow(store, 'end', 'never')
    const again = await fixture.reopen(store)
    if (!again.capabilities.durable) {
      assert.deepEqual((await again.list({ limit: 10 })).items, [])
      return
    }
    assert.deepEqual(await read(again, 'waiting'), waiting)
    assert.deepEqual(await read(again, 'end'), end)
    // A store may void the leases when it opens, but may not change anything else.
    const { owned: isOwned, dueAt } = await read(again, 'owned')
    assert.ok(isOwned ? dueAt === owned.dueAt : dueAt <= owned.dueAt)
    assert.deepEqual(await read(again, 'owned'), { ...owned, owned: isOwned, dueAt })
    assert.equal((await again.create(aTransaction('end'))).type, 'exists')
  })

  test('An interrupted row can be claimed after the store is opened again, and its old owner is fenced', async (store, fixture) => {
    if (!store.capabilities.durable) return
    const row = await createRow(
      store,
      aTransaction('a', { hold: { type: 'owned', leaseMs: BRIEF_LEASE_MS } }),
    )
    const again = await fixture.reopen(store)
    await fixture.pass(again, BRIEF_LEASE_MS)
    assert.deepEqual(await claimDueGids(again, 10), ['a'])
    assert.equal((await again.update(makeUpdate(row, { type: 'keep' }))).type, 'fenced')
    assert.equal((await read(again, 'a')).sentList, 'unknown')
  })

  test('A shared store shows two openers the same rows, and another refuses the second or hides the rows', async (store, fixture) => {
    const row = await createRow(store, aDueTransaction('a'))
    if (store.capabilities.shared) return sharesRows(store, await fixture.open())
    if (store.capabilities.durable) return rejectsWith('SAGA_STORE_IN_USE', () => fixture.open())
    assert.equal(await isStored(await fixture.open(), row.gid), false)
  })
}

async function sharesRows(left: Store, right: Store): Promise<void> {
  const row = await claimRow(right, 'a', 60_000)
  assert.deepEqual(await read(left, 'a'), row)
  assert.deepEqual(await claimDueGids(left, 10), [])
  const { version } = await saveRow(left, makeUpdate(row, { type: 'command' }, { status: 'aborting' }))
  const [renewed] = (await right.renew([{ gid: row.gid, token: row.token }], 60_000)).renewed
  assert.equal(renewed?.version, version)
  const gids = Array.from({ length: 40 }, (_, i) => `shared-${i}`)
  await Promise.all(gids.map((gid, i) => (i % 2 === 0 ? left : right).create(aDueTransaction(gid))))
  const taken = await Promise.all([left, right, left, right].map((store) => claimDueGids(store, 20, 60_000)))
  assert.equal(new Set(taken.flat()).size, taken.flat().length)
  const twice = await Promise.all([left, right].map((store) => store.create(aTransaction('twice'))))
  assert.deepEqual(twice.map((result) => result.type).sort(), ['created', 'exists'])
}
