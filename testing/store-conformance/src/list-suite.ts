import assert from 'node:assert/strict'
import {
  LIST_SCAN_MAX,
  type ListedTransaction,
  type ListQuery,
  type StoredTransaction,
} from '@counterstep/core'
import { readAllPages } from './read-all-pages.ts'
import type { DefineTest } from './store-fixture.ts'
import { aDueTransaction, aTransaction, createRow, finishRow, makeUpdate, saveRow } from './transactions.ts'

const CREATE_AT_ONCE = 500

export function listSuite(test: DefineTest): void {
  test('A list shows the newest first, and orders ties by gid downward', async (store, fixture) => {
    for (let i = 0; i < 9; i++) {
      await createRow(store, aTransaction(`t-${(i * 4) % 9}`))
      if (i % 3 === 2) await fixture.pass(store, 5)
    }
    const { items, cursor } = await store.list({ limit: 100 })
    assert.equal(cursor, undefined)
    assert.equal(items.length, 9)
    assert.deepEqual(items, [...items].sort(newestFirst))
    if (fixture.hasExactClock) assert.equal(new Set(items.map((item) => item.createdAt)).size, 3)
  })

  test('A listed transaction shows the fields of its row', async (store) => {
    const columns = { name: 'transfer', tags: { region: 'eu' } }
    const bare = await createRow(store, aTransaction('a', { kind: 'message', status: 'prepared' }))
    const row = await createRow(store, aTransaction('b', columns))
    const trouble = { problem: 'bank-a action 500', attempts: 7, marks: ['by-hand'] } as const
    const full = await saveRow(store, makeUpdate(row, { type: 'keep' }, trouble))
    const { items } = await store.list({ limit: 2, order: 'due' })
    const listed = new Map(items.map((item) => [item.gid as string, item]))
    assert.deepEqual(listed.get('a'), toListed(bare))
    assert.deepEqual(listed.get('b'), { ...toListed(full), ...columns, ...trouble })
    assert.deepEqual(new Set((await store.list({ limit: 2 })).items), new Set(items))
  })

  test('Pages follow each other without a gap or a repeat, even within one instant', async (store, fixture) => {
    for (let i = 0; i < 25; i++) {
      await createRow(store, aTransaction(`t-${(i * 7) % 25}`))
      if (i === 12) await fixture.pass(store, 5)
    }
    const { items } = await store.list({ limit: 100 })
    for (const limit of [1, 4, 5, 24, 25]) assert.deepEqual(await readAllPages(store, { limit }), items)
  })

  test('A full page with nothing older has no cursor', async (store) => {
    for (const gid of ['a', 'b']) await createRow(store, aTransaction(gid))
    assert.equal((await store.list({ limit: 2 })).cursor, undefined)
    assert.notEqual((await store.list({ limit: 1 })).cursor, undefined)
    assert.deepEqual(await store.list({ limit: 5, kind: 'tcc' }), { items: [] })
  })

  test('A list filters by status, kind, flags and time of creation', async (store, fixture) => {
    const old = await createRow(store, aTransaction('old', { kind: 'tcc', status: 'prepared' }))
    await fixture.pass(store, 10)
    const row = await createRow(store, aTransaction('flags'))
    await saveRow(store, makeUpdate(row, { type: 'keep' }, { retrying: true, attention: true }))
    await fixture.pass(store, 10)
    const end = await finishRow(store, 'end', 'never')
    const expected: [Partial<ListQuery>, string[]][] = [
      [{ status: ['prepared'] }, ['old']],
      [{ status: ['prepared', 'succeeded'] }, ['end', 'old']],
      [{ status: [] }, []],
      [{ kind: 'saga' }, ['end', 'flags']],
      [{ retrying: true }, ['flags']],
      [{ retrying: false }, ['end', 'old']],
      [{ attention: true, kind: 'saga' }, ['flags']],
      [{ attention: false }, ['end', 'old']],
      [{ createdFrom: row.createdAt }, ['end', 'flags']],
      [{ createdTo: row.createdAt }, ['old']],
      [{ createdFrom: old.createdAt, createdTo: end.createdAt }, ['flags', 'old']],
      [{ createdFrom: end.createdAt + 1 }, []],
    ]
    for (const [query, gids] of expected) {
      const { items, cursor } = await store.list({ limit: 10, ...query })
      assert.deepEqual(
        items.map((item) => item.gid),
        gids,
        JSON.stringify(query),
      )
      assert.equal(cursor, undefined)
    }
    assert.deepEqual(
      (await readAllPages(store, { limit: 1, kind: 'saga' })).map((item) => item.gid),
      ['end', 'flags'],
    )
  })

  test('Pages stay in order while rows come, change and go', async (store, fixture) => {
    for (let i = 0; i < 20; i++) await finishRow(store, `t-${i}`, i % 2 === 0 ? fixture.retentionMs : 'never')
    const first = await store.list({ limit: 5 })
    await fixture.pass(store, fixture.retentionMs)
    await store.purgeFinished(100)
    await createRow(store, aTransaction('late'))
    const rest =
      first.cursor === undefined ? [] : await readAllPages(store, { limit: 3, cursor: first.cursor })
    const seen = [...first.items, ...rest]
    assert.deepEqual(seen, [...seen].sort(newestFirst))
    assert.equal(new Set(seen.map((item) => item.gid)).size, seen.length)
    const listed = new Set<string>(seen.map((item) => item.gid))
    for (let i = 1; i < 20; i += 2) assert.ok(listed.has(`t-${i}`))
    assert.ok(!listed.has('late'))
  })

  test('A page scans a bounded number of rows and goes on from there, in every order', async (store) => {
    const rare = { kind: 'tcc', name: 'rare', tags: { rare: 'yes' } } as const
    // It is due long after the others, however long they take to be created.
    const hold = { type: 'waiting', dueInMs: 3_600_000 } as const
    await createRow(store, aTransaction('oldest', { ...rare, hold, sentList: 'released' }))
    for (let from = 0; from < LIST_SCAN_MAX; from += CREATE_AT_ONCE) {
      const gids = Array.from({ length: CREATE_AT_ONCE }, (_, i) => `z-${from + i}`)
      await Promise.all(gids.map((gid) => store.create(aDueTransaction(gid))))
    }
    const queries: readonly ListQuery[] = [
      { limit: 10, kind: 'tcc' },
      { limit: 10, name: 'rare' },
      { limit: 10, tags: { rare: 'yes' }, order: 'due' },
      { limit: 10, name: 'rare', order: 'due' },
      { limit: 10, kind: 'tcc', order: 'due' },
    ]
    for (const query of queries) {
      const short = await store.list(query)
      assert.deepEqual(short.items, [], JSON.stringify(query))
      assert.ok(short.cursor !== undefined)
      const rest = await readAllPages(store, { ...query, cursor: short.cursor })
      assert.deepEqual(
        rest.map((item) => item.gid),
        ['oldest'],
      )
    }
    // A search by a tag scans only the rows that have it, however many have come since.
    const tagged = await store.list({ limit: 10, tags: { rare: 'yes' } })
    assert.deepEqual(
      tagged.items.map((item) => item.gid),
      ['oldest'],
    )
    assert.equal(tagged.cursor, undefined)
    assert.deepEqual(await store.list({ limit: 10, tags: { rare: 'yes', region: 'eu' } }), { items: [] })
    // A store that looks up gids by their key finds this one without a scan.
    const prefixed = await readAllPages(store, { limit: 10, gidPrefix: 'old', order: 'due' })
    assert.deepEqual(
      prefixed.map((item) => item.gid),
      ['oldest'],
    )
    const last = await store.list({ limit: 1, order: 'due-last', kind: 'tcc' })
    assert.deepEqual(
      last.items.map((item) => item.gid),
      ['oldest'],
    )
  })
}

function toListed(row: StoredTransaction): ListedTransaction {
  const { gid, kind, status, createdAt, updatedAt, dueAt, epoch, retrying, attention } = row
  return { gid, kind, status, createdAt, updatedAt, dueAt, epoch, retrying, attention }
}

function newestFirst(a: ListedTransaction, b: ListedTransaction): number {
  if (a.createdAt !== b.createdAt) return b.createdAt - a.createdAt
  return a.gid < b.gid ? 1 : -1
}
