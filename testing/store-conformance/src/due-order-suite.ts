import assert from 'node:assert/strict'
import { type ListedTransaction, type ListQuery, PARKED_AT, type Store } from '@counterstep/core'
import { readAllPages } from './read-all-pages.ts'
import type { DefineTest } from './store-fixture.ts'
import { aTransaction, createRow, finishRow, makeUpdate, read, saveRow } from './transactions.ts'

/** Creates rows that wait until these instants, in this order. */
async function createWaiting(store: Store, dueAts: readonly (readonly [gid: string, dueAt: number])[]) {
  for (const [gid, dueAt] of dueAts) await moveTo(store, await createRow(store, aTransaction(gid)), dueAt)
}

async function moveTo(store: Store, { gid }: { readonly gid: string }, dueAt: number): Promise<void> {
  await saveRow(store, makeUpdate(await read(store, gid), { type: 'release', dueAt }))
}

async function listGids(store: Store, query: ListQuery): Promise<readonly string[]> {
  return (await readAllPages(store, query)).map((item) => item.gid)
}

export function dueOrderSuite(test: DefineTest): void {
  test('In the order of the due instant the unfinished rows are listed, the first due or the last due first', async (store) => {
    const { now } = await store.stats()
    await createWaiting(store, [
      ['parked', PARKED_AT],
      ['soon', now + 1_000],
      ['late', now + 60_000],
      ['past', now - 5_000],
    ])
    await finishRow(store, 'end', 'never')
    const order = ['past', 'soon', 'late', 'parked']
    for (const limit of [1, 2, 10]) {
      assert.deepEqual(await listGids(store, { limit, order: 'due' }), order)
      assert.deepEqual(await listGids(store, { limit, order: 'due-last' }), [...order].reverse())
    }
    assert.deepEqual(await listGids(store, { limit: 10, order: 'due', status: ['succeeded'] }), [])
  })

  test('Rows that are due at one instant are in the order of their gids, and each is listed once', async (store) => {
    const { now } = await store.stats()
    const gids = Array.from({ length: 13 }, (_, i) => `t-${(i * 5) % 13}`)
    await createWaiting(
      store,
      gids.map((gid) => [gid, now + 60_000]),
    )
    await createWaiting(store, [
      ['a', now + 60_001],
      ['z', now + 59_999],
    ])
    const order = ['z', ...[...gids].sort(), 'a']
    for (const limit of [1, 5, 13, 14, 15, 16]) {
      assert.deepEqual(await listGids(store, { limit, order: 'due' }), order)
      assert.deepEqual(await listGids(store, { limit, order: 'due-last' }), [...order].reverse())
    }
  })

  test('A cursor has the due instant and the gid of the last row of its page', async (store) => {
    const { now } = await store.stats()
    await createWaiting(store, [
      ['a', now + 1_000],
      ['b', now + 2_000],
    ])
    const { cursor } = await store.list({ limit: 1, order: 'due' })
    assert.deepEqual(cursor, { at: now + 1_000, gid: 'a' })
    assert.deepEqual((await store.list({ limit: 1, order: 'due-last' })).cursor, {
      at: now + 2_000,
      gid: 'b',
    })
    assert.equal((await store.list({ limit: 2, order: 'due' })).cursor, undefined)
  })

  test('The filters apply in this order too, that of the creation included', async (store, fixture) => {
    const { now } = await store.stats()
    await createWaiting(store, [['old', now + 3_000]])
    await fixture.pass(store, 5)
    const row = await createRow(store, aTransaction('new', { name: 'transfer', tags: { region: 'eu' } }))
    const trouble = { attention: true, problem: 'bank-a action 500', marks: ['paused'] } as const
    await saveRow(store, makeUpdate(row, { type: 'release', dueAt: now + 2_000 }, trouble))
    const { createdAt } = row
    const filters: readonly (readonly [Partial<ListQuery>, readonly string[]])[] = [
      [{}, ['new', 'old']],
      [{ createdTo: createdAt }, ['old']],
      [{ createdFrom: createdAt }, ['new']],
      [{ attention: true }, ['new']],
      [{ attention: false }, ['old']],
      [{ name: 'transfer' }, ['new']],
      [{ tags: { region: 'eu' } }, ['new']],
      [{ problem: 'bank-a action 500' }, ['new']],
      [{ marks: ['paused'] }, ['new']],
      [{ gidPrefix: 'o' }, ['old']],
      [{ kind: 'tcc' }, []],
    ]
    for (const [filter, gids] of filters)
      assert.deepEqual(
        await listGids(store, { limit: 1, order: 'due', ...filter }),
        gids,
        JSON.stringify(filter),
      )
  })

  test('While due instants change, each row that stays is listed once, and the pages end', async (store) => {
    const { now } = await store.stats()
    const gids = Array.from({ length: 24 }, (_, i) => `t-${String(i).padStart(2, '0')}`)
    await createWaiting(
      store,
      gids.map((gid, i) => [gid, now + 60_000 + Math.floor(i / 3)]),
    )
    const moved = gids.filter((_, i) => i % 4 === 1)
    const seen: ListedTransaction[] = []
    let query: ListQuery = { limit: 5, order: 'due' }
    for (let pages = 0; pages < gids.length; pages++) {
      const { items, cursor } = await store.list(query)
      seen.push(...items)
      if (cursor === undefined) break
      query = { ...query, cursor }
      const gid = moved[pages]
      if (gid !== undefined) await moveTo(store, { gid }, now + 120_000 + pages)
      await finishRow(store, `end-${pages}`, 'never')
    }
    const stayed = seen.map((item) => item.gid as string).filter((gid) => !moved.includes(gid))
    assert.deepEqual(
      stayed,
      gids.filter((gid) => !moved.includes(gid)),
    )
  })
}
