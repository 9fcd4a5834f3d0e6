import assert from 'node:assert/strict'
import {
  LIST_SCAN_MAX,
  type ListCursor,
  type ListedTransaction,
  type ListQuery,
  type ListResult,
  type Store,
} from '@counterstep/core'
import type { DefineTest } from './store-fixture.ts'
import { aDueTransaction, aTransaction, createRow, finishRow, makeUpdate, saveRow } from './transactions.ts'

const CREATE_AT_ONCE = 500
const PAGES_MAX = 100

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
    const row = await createRow(store, aTransaction('a', { kind: 'message', status: 'prepared' }))
    const { gid, kind, status, createdAt, updatedAt, dueAt, epoch, retrying, attention } = row
    const { items } = await store.list({ limit: 1 })
    assert.deepEqual(items, [{ gid, kind, status, createdAt, updatedAt, dueAt, epoch, retrying, attention }])
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

  test('A page scans a bounded number of rows and goes on from there', async (store) => {
    await createRow(store, aTransaction('oldest', { kind: 'tcc' }))
    for (let from = 0; from < LIST_SCAN_MAX; from += CREATE_AT_ONCE) {
      const gids = Array.from({ length: CREATE_AT_ONCE }, (_, i) => `z-${from + i}`)
      await Promise.all(gids.map((gid) => store.create(aDueTransaction(gid))))
    }
    const short = await store.list({ limit: 10, kind: 'tcc' })
    assert.deepEqual(short.items, [])
    assert.ok(short.cursor !== undefined)
    const rest = await readAllPages(store, { limit: 10, kind: 'tcc', cursor: short.cursor })
    assert.deepEqual(
      rest.map((item) => item.gid),
      ['oldest'],
    )
  })
}

/** Reads all pages, up to a bound, because a store that repeats a row would give pages for ever. */
async function readAllPages(store: Store, query: ListQuery): Promise<readonly ListedTransaction[]> {
  const items: ListedTransaction[] = []
  let cursor: ListCursor | undefined = query.cursor
  for (let page = 0; page < PAGES_MAX; page++) {
    const result: ListResult = await store.list({ ...query, ...(cursor && { cursor }) })
    assert.ok(result.items.length <= query.limit)
    items.push(...result.items)
    cursor = result.cursor
    if (cursor === undefined) return items
  }
  assert.fail(`more than ${PAGES_MAX} pages`)
}

function newestFirst(a: ListedTransaction, b: ListedTransaction): number {
  if (a.createdAt !== b.createdAt) return b.createdAt - a.createdAt
  return a.gid < b.gid ? 1 : -1
}
