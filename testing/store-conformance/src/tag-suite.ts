import assert from 'node:assert/strict'
import type { ListCursor, ListQuery, Store, Tags } from '@counterstep/core'
import { readAllPages } from './read-all-pages.ts'
import type { DefineTest } from './store-fixture.ts'
import { aTransaction, createRow, finishRow, makeUpdate, purgeAll, saveRow } from './transactions.ts'

const EU: Tags = { region: 'eu' }
/** All of these are different tags, though each is the beginning or a part of another, or looks like SQL or like a pattern. */
const HOSTILE: readonly Tags[] = [
  { k: 'a' },
  { k: 'A' },
  { k: 'aa' },
  { k: 'a:a' },
  { k: 'k:a' },
  { kk: 'a' },
  { 'k.k': 'a' },
  { k: '%' },
  { k: '_' },
  { k: '*' },
  { k: '!' },
  { k: '~' },
  { k: 'a!' },
  { k: 'a~' },
  { k: '\\' },
  { k: '\\n' },
  { k: '\\\\' },
  { k: '"' },
  { k: '","' },
  { k: "'" },
  { k: "';--" },
  { k: "a')" },
  { k: '[a' },
  { k: '(a' },
  { k: '%0A' },
  { k: '%250A' },
  { k: '%2' },
  { k: '?' },
  { k: '/*range*/' },
  { k: '9'.repeat(64) },
]

/** A list finds rows by their tags. The list suite shows that it does so however many other rows there are. */
export function tagSuite(test: DefineTest): void {
  test('A row is found by several tags if it has all of them, whichever of them is rare', async (store) => {
    for (let i = 0; i < 6; i++) {
      const tags = { region: 'eu', ...(i % 2 === 0 && { tier: '2' }), ...(i % 3 === 0 && { vip: 'yes' }) }
      await createRow(store, aTransaction(`t-${i}`, { tags }))
    }
    assert.deepEqual(await listGids(store, { region: 'eu', tier: '2' }), ['t-4', 't-2', 't-0'])
    assert.deepEqual(await listGids(store, { vip: 'yes', region: 'eu' }), ['t-3', 't-0'])
    assert.deepEqual(await listGids(store, { tier: '2', vip: 'yes', region: 'eu' }), ['t-0'])
    assert.deepEqual(await listGids(store, { tier: '2', vip: 'no' }), [])
  })

  test('Rows of a tag are listed newest first, those of one instant by the gid, and each once', async (store) => {
    const gids = Array.from({ length: 40 }, (_, i) => `t-${(i * 7) % 40}`)
    await Promise.all(gids.map((gid) => store.create(aTransaction(gid, { tags: EU }))))
    const tagged = await readAllPages(store, { limit: 3, tags: EU })
    assert.deepEqual(tagged, (await store.list({ limit: 40 })).items)
    const [from, to] = [tagged[30]?.createdAt ?? 0, tagged[5]?.createdAt ?? 0]
    assert.deepEqual(
      await readAllPages(store, { limit: 3, tags: EU, createdFrom: from, createdTo: to }),
      tagged.filter(({ createdAt }) => createdAt >= from && createdAt < to),
    )
  })

  test('Each tag finds its own rows alone, by the bytes of its key and of its value', async (store) => {
    for (const [i, tags] of HOSTILE.entries()) await createRow(store, aTransaction(`t-${i}`, { tags }))
    await createRow(store, aTransaction('all', { tags: { k: 'b', kk: "b'", z: '\\"' } }))
    for (const [i, tags] of HOSTILE.entries())
      assert.deepEqual(await listGids(store, tags), [`t-${i}`], JSON.stringify(tags))
    for (const tags of [{ k: 'b' }, { kk: "b'" }, { z: '\\"' }])
      assert.deepEqual(await listGids(store, tags), ['all'])
  })

  test('A tag and any other filter are combined, in each order', async (store) => {
    const row = await createRow(store, aTransaction('done', { name: 'transfer', tags: EU }))
    await saveRow(store, makeUpdate(row, { type: 'finish', retentionMs: 'never' }))
    await createRow(store, aTransaction('live', { name: 'transfer', tags: EU }))
    await createRow(store, aTransaction('other', { name: 'payout', tags: EU, kind: 'tcc' }))
    await createRow(store, aTransaction('none', { name: 'transfer' }))
    const find = (query: Partial<ListQuery>) => listGids(store, EU, 10, query)
    assert.deepEqual(await find({ name: 'transfer' }), ['live', 'done'])
    assert.deepEqual(await find({ status: ['succeeded'] }), ['done'])
    assert.deepEqual(await find({ kind: 'tcc' }), ['other'])
    assert.deepEqual(await find({ gidPrefix: 'o' }), ['other'])
    assert.deepEqual(await find({ gidPrefix: 'n' }), [])
    for (const order of ['due', 'due-last'] as const)
      assert.deepEqual((await find({ order, name: 'transfer' })).toSorted(), ['live'])
  })

  test('A row that was purged is not found by its tags, nor is its gid by them when another row has it', async (store, fixture) => {
    const rows = ['a', 'b', 'c'].map((gid) => aTransaction(gid, { tags: { ...EU, only: gid } }))
    for (const each of rows) {
      const row = await createRow(store, each)
      await saveRow(store, makeUpdate(row, { type: 'finish', retentionMs: fixture.retentionMs }))
    }
    await createRow(store, aTransaction('kept', { tags: EU }))
    await fixture.pass(store, fixture.retentionMs)
    await purgeAll(store, ['a', 'b', 'c'], 2)
    assert.deepEqual(await listGids(store, EU), ['kept'])
    await createRow(store, aTransaction('a', { tags: { region: 'us' } }))
    assert.deepEqual(await listGids(store, { only: 'a' }), [])
    assert.deepEqual(await listGids(store, { region: 'us' }), ['a'])
    assert.deepEqual(await listGids(store, EU), ['kept'])
  })

  test('Pages of a tag go on while rows are purged and others come', async (store, fixture) => {
    for (const gid of ['k-1', 'g-1', 'k-2', 'g-2', 'k-3']) {
      const row = await createRow(store, aTransaction(gid, { tags: EU }))
      if (!gid.startsWith('g')) continue
      await saveRow(store, makeUpdate(row, { type: 'finish', retentionMs: fixture.retentionMs }))
    }
    const seen: string[] = []
    let cursor: ListCursor | undefined
    const first = await store.list({ limit: 1, tags: EU })
    seen.push(...first.items.map(({ gid }) => gid as string))
    cursor = first.cursor
    await fixture.pass(store, fixture.retentionMs)
    await purgeAll(store, ['g-1', 'g-2'], 10)
    await createRow(store, aTransaction('late', { tags: EU }))
    for (let pages = 0; cursor !== undefined; pages++) {
      assert.ok(pages < 10, 'the pages have no end')
      const page = await store.list({ limit: 1, tags: EU, cursor })
      seen.push(...page.items.map(({ gid }) => gid as string))
      cursor = page.cursor
    }
    assert.deepEqual(seen, ['k-3', 'k-2', 'k-1'])
  })

  test('A create that is refused or sent again adds nothing to what a tag finds', async (store) => {
    const transaction = aTransaction('a', { tags: EU })
    await createRow(store, transaction)
    assert.equal((await store.create(transaction)).type, 'created')
    const other = aTransaction('a', { tags: { region: 'us' } })
    const [refused] = await Promise.all([
      store.create(other),
      ...['b', 'c'].map((gid) => store.create(aTransaction(gid, { tags: EU }))),
    ])
    assert.equal(refused?.type, 'exists')
    assert.deepEqual((await listGids(store, EU)).toSorted(), ['a', 'b', 'c'])
    assert.deepEqual(await listGids(store, { region: 'us' }), [])
    await finishRow(store, 'untagged', 'never')
    assert.equal((await store.list({ limit: 10 })).items.length, 4)
  })
}

async function listGids(
  store: Store,
  tags: Tags,
  limit = 3,
  query: Partial<ListQuery> = {},
): Promise<readonly string[]> {
  const items = await readAllPages(store, { ...query, limit, tags })
  return items.map(({ gid }) => gid as string)
}
