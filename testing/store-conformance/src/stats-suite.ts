import assert from 'node:assert/strict'
import type { Store, StoredTransaction, TransactionUpdate } from '@counterstep/core'
import { PROBLEMS_MAX } from '@counterstep/protocol'
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

  test('The statistics count the unfinished rows of each problem, the most frequent first', async (store, fixture) => {
    const first = await createRow(store, aTransaction('a-0'))
    await fixture.pass(store, 5)
    await createTroubled(store, 'a', ['bank-a compensate 500', 'bank-a compensate 500'], { attention: true })
    await saveRow(store, makeUpdate(first, { type: 'keep' }, { problem: 'bank-a compensate 500' }))
    await createTroubled(store, 'b', ['– no-progress', '– no-progress'])
    await createTroubled(store, 'c', ['ledger action timeout'])
    const [end] = await createTroubled(store, 'd', ['– no-progress'])
    assert.ok(end !== undefined)
    await saveRow(store, makeUpdate(end, { type: 'finish', retentionMs: 60_000 }))
    const { problems } = await store.stats()
    assert.deepEqual(
      problems.map(({ problem, waiting, attention }) => [problem, waiting, attention]),
      [
        ['bank-a compensate 500', 3, 2],
        ['– no-progress', 2, 0],
        ['ledger action timeout', 1, 0],
      ],
    )
    assert.equal(problems[0]?.oldestAt, first.createdAt)
    for (const { oldestAt } of problems.slice(1)) assert.ok(oldestAt >= first.createdAt + 5)
  })

  test('Each row counts for the problem that it has now', async (store) => {
    const [row] = await createTroubled(store, 'a', ['bank-a action 500'])
    assert.ok(row !== undefined)
    const other = await saveRow(store, makeUpdate(row, { type: 'keep' }, { problem: 'bank-a action 503' }))
    const read = async () => (await store.stats()).problems.map(({ problem, waiting }) => [problem, waiting])
    assert.deepEqual(await read(), [['bank-a action 503', 1]])
    await saveRow(store, makeUpdate(other, { type: 'keep' }))
    assert.deepEqual(await read(), [])
  })

  test('Beyond a bound the rarest problems are counted together', async (store) => {
    const texts = Array.from(
      { length: PROBLEMS_MAX + 3 },
      (_, i) => `bank-${String(i).padStart(3, '0')} action 500`,
    )
    await Promise.all(
      texts.slice(0, PROBLEMS_MAX).map((text, i) => createTroubled(store, `a-${i}`, [text, text])),
    )
    const rest = await createTroubled(store, 'b', texts.slice(PROBLEMS_MAX), { attention: true })
    const { problems } = await store.stats()
    assert.equal(problems.length, PROBLEMS_MAX + 1)
    assert.ok(
      problems.slice(0, PROBLEMS_MAX).every(({ problem, waiting }) => waiting === 2 && problem !== 'other'),
    )
    const oldestAt = Math.min(...rest.map(({ createdAt }) => createdAt))
    assert.deepEqual(problems.at(-1), { problem: 'other', waiting: 3, attention: 3, oldestAt })
  })

  test('The statistics count the marks, and the oldest row that is not paused', async (store, fixture) => {
    const oldest = await createRow(store, aTransaction('oldest'))
    await fixture.pass(store, 5)
    const second = await createRow(store, aTransaction('second'))
    await fixture.pass(store, 5)
    const end = await createRow(store, aTransaction('end'))
    assert.equal((await store.stats()).oldestUnfinishedAt, oldest.createdAt)
    const paused = await saveRow(
      store,
      makeUpdate(oldest, { type: 'keep' }, { marks: ['paused', 'by-hand'] }),
    )
    await saveRow(store, makeUpdate(second, { type: 'keep' }, { marks: ['by-hand', 'edited'] }))
    await saveRow(store, makeUpdate(end, { type: 'finish', retentionMs: 60_000 }, { marks: ['by-hand'] }))
    const stats = await store.stats()
    assert.deepEqual([stats.paused, stats.byHand, stats.oldestUnfinishedAt], [1, 2, second.createdAt])
    await saveRow(store, makeUpdate(paused, { type: 'keep' }))
    const resumed = await store.stats()
    assert.deepEqual([resumed.paused, resumed.byHand, resumed.oldestUnfinishedAt], [0, 1, oldest.createdAt])
  })
}

/** Creates a row for each problem, one after the other. */
async function createTroubled(
  store: Store,
  prefix: string,
  problems: readonly string[],
  change: Partial<TransactionUpdate> = {},
): Promise<readonly StoredTransaction[]> {
  const rows: StoredTransaction[] = []
  for (const [i, problem] of problems.entries()) {
    const row = await createRow(store, aTransaction(`${prefix}-${i + 1}`))
    rows.push(await saveRow(store, makeUpdate(row, { type: 'keep' }, { problem, ...change })))
  }
  return rows
}
