import assert from 'node:assert/strict'
import { PURGE_MAX } from '@counterstep/core'
import type { DefineTest } from './store-fixture.ts'
import {
  aDueTransaction,
  aTransaction,
  createRow,
  finishRow,
  isStored,
  purgeAll,
  rejectsWith,
} from './transactions.ts'

export function purgeSuite(test: DefineTest): void {
  test('A purge removes finished rows whose retention is over, and only those', async (store, fixture) => {
    await finishRow(store, 'short', fixture.retentionMs)
    await finishRow(store, 'long', 3_600_000)
    await finishRow(store, 'never', 'never')
    await createRow(store, aTransaction('owned', { hold: { type: 'owned', leaseMs: 1 } }))
    await createRow(store, aDueTransaction('waiting'))
    await fixture.pass(store, fixture.retentionMs)
    await purgeAll(store, ['short'], 100)
    for (const gid of ['long', 'never', 'owned', 'waiting']) assert.ok(await isStored(store, gid), gid)
  })

  test('A retention ends exactly at its time, and not before', async (store, fixture) => {
    if (!fixture.hasExactClock) return
    await finishRow(store, 'a', 1_000)
    await fixture.pass(store, 999)
    assert.deepEqual(await store.purgeFinished(10), { purged: 0 })
    await fixture.pass(store, 1)
    assert.deepEqual(await store.purgeFinished(10), { purged: 1 })
  })

  test('Retention "never" outlives a century', async (store, fixture) => {
    if (!fixture.hasExactClock) return
    await finishRow(store, 'a', 'never')
    await fixture.pass(store, 100 * 365 * 86_400_000)
    assert.deepEqual(await store.purgeFinished(10), { purged: 0 })
    assert.ok(await isStored(store, 'a'))
  })

  test('A purge keeps to its limit', async (store, fixture) => {
    const gids = Array.from({ length: 7 }, (_, i) => `t-${i}`)
    for (const gid of gids) await finishRow(store, gid, fixture.retentionMs)
    await fixture.pass(store, fixture.retentionMs)
    const counts = await purgeAll(store, gids, 3)
    if (fixture.hasExactClock) assert.deepEqual(counts, [3, 3, 1, 0])
    await rejectsWith('SAGA_INTERNAL', () => store.purgeFinished(PURGE_MAX + 1))
  })

  test('A purged gid may be used anew', async (store, fixture) => {
    const old = await finishRow(store, 'a', fixture.retentionMs)
    await fixture.pass(store, fixture.retentionMs)
    await purgeAll(store, ['a'], 10)
    const row = await createRow(store, aTransaction('a', { progress: 'new' }))
    assert.deepEqual([row.version, row.epoch, row.progress], [1, 1, 'new'])
    assert.ok(row.createdAt >= old.createdAt + fixture.retentionMs)
  })
}
