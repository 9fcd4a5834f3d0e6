import assert from 'node:assert/strict'
import type { DefineTest } from './store-fixture.ts'
import { aDueTransaction, aTransaction, createRow, finishRow, makeUpdate, saveRow } from './transactions.ts'

export function statsSuite(test: DefineTest): void {
  test('An empty store counts nothing', async (store) => {
    const { now, ...stats } = await store.stats()
    assert.ok(Number.isSafeInteger(now))
    assert.deepEqual(stats, {
      unfinished: { prepared: 0, submitted: 0, aborting: 0 },
      ...{ attention: 0, paused: 0, byHand: 0, problems: [] },
    })
  })

  test('The statistics count the unfinished by status, the attention and the oldest due instant', async (store) => {
    const oldest = await createRow(store, aDueTransaction('oldest', { status: 'prepared' }))
    for (const gid of ['a', 'b', 'c']) await createRow(store, aTransaction(gid))
    const row = await createRow(store, aTransaction('d'))
    await saveRow(store, makeUpdate(row, { type: 'keep' }, { status: 'aborting', attention: true }))
    const end = await createRow(store, aTransaction('end'))
    await saveRow(store, makeUpdate(end, { type: 'finish', retentionMs: 60_000 }, { attention: true }))
    await finishRow(store, 'end-2', 'never')
    const stats = await store.stats()
    assert.deepEqual(stats.unfinished, { prepared: 1, submitted: 3, aborting: 1 })
    assert.equal(stats.attention, 1)
    assert.equal(stats.oldestDueAt, oldest.dueAt)
  })
}
