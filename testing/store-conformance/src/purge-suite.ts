import assert from 'node:assert/strict'
import { PURGE_MAX } from '@counterstep/core'
import type { DefineTest } from './store-fixture.ts'
import {
  aDueTransaction,
  aTransaction,
  created,
  exists,
  finished,
  purgeAll,
  rejectsWith,
} from './transactions.ts'

export function purgeSuite(test: DefineTest): void {
  test('purge removes finished rows whose retention is over, and only those', async (store, bed) => {
    await finished(store, 'short', bed.retentionMs)
    await finished(store, 'long', 3_600_000)
    await finished(store, 'never', 'never')
    await created(store, aTransaction('owned', { hold: { type: 'owned', leaseMs: 1 } }))
    await created(store, aDueTransaction('waiting'))
    await bed.pass(store, bed.retentionMs)
    await purgeAll(store, ['short'], 100)
    for (const gid of ['long', 'never', 'owned', 'waiting']) assert.ok(await exists(store, gid), gid)
  })

  test('a retention is over at its very instant, and not before', async (store, bed) => {
    if (!bed.hasExactClock) return
    await finished(store, 'a', 1_000)
    await bed.pass(store, 999)
    assert.deepEqual(await store.purgeFinished(10), { purged: 0 })
    await bed.pass(store, 1)
    assert.deepEqual(await store.purgeFinished(10), { purged: 1 })
  })

  test('retention "never" outlives a century', async (store, bed) => {
    if (!bed.hasExactClock) return
    await finished(store, 'a', 'never')
    await bed.pass(store, 100 * 365 * 86_400_000)
    assert.deepEqual(await store.purgeFinished(10), { purged: 0 })
    assert.ok(await exists(store, 'a'))
  })

  test('purge keeps to its limit', async (store, bed) => {
    const gids = Array.from({ length: 7 }, (_, i) => `t-${i}`)
    for (const gid of gids) await finished(store, gid, bed.retentionMs)
    await bed.pass(store, bed.retentionMs)
    const counts = await purgeAll(store, gids, 3)
    if (bed.hasExactClock) assert.deepEqual(counts, [3, 3, 1, 0])
    await rejectsWith('SAGA_INTERNAL', () => store.purgeFinished(PURGE_MAX + 1))
  })

  test('a purged gid is new', async (store, bed) => {
    const old = await finished(store, 'a', bed.retentionMs)
    await bed.pass(store, bed.retentionMs)
    await purgeAll(store, ['a'], 10)
    const row = await created(store, aTransaction('a', { progress: 'new' }))
    assert.deepEqual([row.version, row.epoch, row.progress], [1, 1, 'new'])
    assert.ok(row.createdAt >= old.createdAt + bed.retentionMs)
  })
}
