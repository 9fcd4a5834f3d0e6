import assert from 'node:assert/strict'
import { DOCUMENT_TEXT_BYTES_MAX } from '@counterstep/core'
import { aDocument, CATEGORY, readDocumentMap, writeAndRead } from './documents.ts'
import { TEXTS } from './payload-suite.ts'
import type { DefineTest } from './store-fixture.ts'
import { rejectsWith } from './transactions.ts'

/** The keys are in the order of their bytes, which differs from JavaScript's order and from that of any language. */
const KEYS = ['A', 'B', 'a', 'a ', 'a-', 'a:b', 'ab', 'b', 'e\u0301', '{p1}', 'é', '订单', '\uff5e', '💶']
const LARGE_DOCUMENTS = 100

export function documentSuite(test: DefineTest): void {
  test('A document is kept as it was written, at version 1 and then one more with each write', async (store, fixture) => {
    assert.deepEqual(await store.readDocuments(CATEGORY), [])
    const check = await fixture.startSpan(store)
    const first = await writeAndRead(store, aDocument('a', { text: 'one' }))
    await check(first.updatedAt)
    assert.deepEqual(first, {
      category: CATEGORY,
      key: 'a',
      text: 'one',
      version: 1,
      updatedAt: first.updatedAt,
    })
    await fixture.pass(store, 20)
    const second = await writeAndRead(store, aDocument('a', { text: 'two', expectedVersion: 1 }))
    assert.ok(second.updatedAt >= first.updatedAt + 20)
    await writeAndRead(store, aDocument('a', { text: '', expectedVersion: 2 }))
  })

  test('A write of another version is a conflict and touches nothing', async (store) => {
    await writeAndRead(store, aDocument('a'))
    const document = await writeAndRead(store, aDocument('a', { text: 'two', expectedVersion: 1 }))
    for (const expectedVersion of [0, 1, 3, 99]) {
      const write = aDocument('a', { text: 'x', expectedVersion })
      assert.deepEqual(await store.writeDocument(write), { type: 'conflict', version: 2 })
    }
    assert.deepEqual(await store.readDocuments(CATEGORY), [document])
    const none = aDocument('b', { expectedVersion: 1 })
    assert.deepEqual(await store.writeDocument(none), { type: 'conflict', version: 0 })
    assert.deepEqual(await store.readDocuments(CATEGORY), [document])
  })

  test('A write sent again with its writeId is the same write', async (store, fixture) => {
    for (const expectedVersion of [0, 1, 2]) {
      const write = aDocument('a', { text: `v${expectedVersion}`, expectedVersion })
      const document = await writeAndRead(store, write)
      await fixture.pass(store, 5)
      const again = await store.writeDocument({ ...write, text: 'must not land' })
      assert.deepEqual(again, { type: 'written', version: expectedVersion + 1 })
      assert.deepEqual(await store.readDocuments(CATEGORY), [document])
    }
  })

  test('A write sent again after a later one, or after the removal, is a conflict', async (store) => {
    const first = aDocument('a', { expectedVersion: 0 })
    await writeAndRead(store, first)
    const second = aDocument('a', { expectedVersion: 1 })
    await writeAndRead(store, second)
    assert.deepEqual(await store.writeDocument(first), { type: 'conflict', version: 2 })
    await store.removeDocument({ category: CATEGORY, key: 'a', expectedVersion: 2 })
    assert.deepEqual(await store.writeDocument(second), { type: 'conflict', version: 0 })
    assert.deepEqual(await store.readDocuments(CATEGORY), [])
  })

  test('A removal takes the version that it knows, once, and what is created again begins at version 1', async (store) => {
    await writeAndRead(store, aDocument('a'))
    const kept = await writeAndRead(store, aDocument('b'))
    await writeAndRead(store, aDocument('a', { expectedVersion: 1 }))
    const removal = { category: CATEGORY, key: 'a', expectedVersion: 2 }
    for (const expectedVersion of [1, 3]) {
      const result = await store.removeDocument({ ...removal, expectedVersion })
      assert.deepEqual(result, { type: 'conflict', version: 2 })
    }
    assert.deepEqual(await store.removeDocument(removal), { type: 'removed' })
    assert.deepEqual(await store.removeDocument(removal), { type: 'absent' })
    assert.deepEqual(await store.removeDocument({ ...removal, key: 'never' }), { type: 'absent' })
    assert.deepEqual(await store.readDocuments(CATEGORY), [kept])
    await writeAndRead(store, aDocument('a', { text: 'new' }))
  })

  test('Keys that look alike are different, and are read in the order of their bytes', async (store) => {
    for (const key of [...KEYS].reverse()) await writeAndRead(store, aDocument(key, { text: `of ${key}` }))
    const documents = await store.readDocuments(CATEGORY)
    assert.deepEqual(
      documents.map(({ key, text }) => [key, text]),
      KEYS.map((key) => [key, `of ${key}`]),
    )
  })

  test('A category knows nothing of another, and the transactions nothing of either', async (store) => {
    const categories = ['a', 'a-', 'b', 'z'.repeat(32)]
    for (const category of categories) await writeAndRead(store, aDocument('k', { category, text: category }))
    for (const category of categories) {
      assert.deepEqual(
        (await store.readDocuments(category)).map(({ category, text }) => [category, text]),
        [[category, category]],
      )
    }
    await store.removeDocument({ category: 'a', key: 'k', expectedVersion: 1 })
    assert.deepEqual(await store.readDocuments('a'), [])
    assert.equal((await store.readDocuments('a-')).length, 1)
    assert.deepEqual((await store.list({ limit: 10 })).items, [])
    assert.deepEqual((await store.stats()).unfinished, { prepared: 0, submitted: 0, aborting: 0 })
  })

  test('A text is kept exactly', async (store) => {
    const texts = { ...TEXTS, 'a line first': '1 2 3 w\n', largest: 'ä'.repeat(DOCUMENT_TEXT_BYTES_MAX / 2) }
    for (const [key, text] of Object.entries(texts)) {
      await writeAndRead(store, aDocument(key, { text }))
      await writeAndRead(store, aDocument(key, { text: `!${text}`.slice(0, -1), expectedVersion: 1 }))
    }
  })

  test('Many large documents are read whole and in order', async (store) => {
    const keys = Array.from({ length: LARGE_DOCUMENTS }, (_, i) => `k-${String(i).padStart(3, '0')}`)
    const makeText = (key: string) => key.padEnd(DOCUMENT_TEXT_BYTES_MAX, 'x')
    for (const key of keys) await store.writeDocument(aDocument(key, { text: makeText(key) }))
    const documents = await store.readDocuments(CATEGORY)
    assert.deepEqual(
      documents.map(({ key }) => key),
      keys,
    )
    for (const { key, text } of documents) assert.ok(text === makeText(key), key)
  })

  test('A document that breaks a bound is refused as a bug, and nothing is written', async (store) => {
    const large = 'x'.repeat(DOCUMENT_TEXT_BYTES_MAX + 1)
    for (const change of [
      { text: large },
      { category: 'Topics' },
      { key: 'a\n' },
      { key: 'k'.repeat(129) },
    ]) {
      await rejectsWith('SAGA_INTERNAL', () => store.writeDocument(aDocument('a', change)))
    }
    await rejectsWith('SAGA_INTERNAL', () => store.writeDocument(aDocument('a', { expectedVersion: -1 })))
    await rejectsWith('SAGA_INTERNAL', () => store.readDocuments('a_b'))
    const removal = { category: CATEGORY, key: 'a', expectedVersion: 0 }
    await rejectsWith('SAGA_INTERNAL', () => store.removeDocument(removal))
    assert.deepEqual(await store.readDocuments(CATEGORY), [])
  })

  test('A durable store still has its documents when it is opened again, and another has none', async (store, fixture) => {
    const write = aDocument('a', { text: 'ä💶\u0000', expectedVersion: 1 })
    await writeAndRead(store, aDocument('a'))
    await writeAndRead(store, write)
    await writeAndRead(store, aDocument('gone'))
    await store.removeDocument({ category: CATEGORY, key: 'gone', expectedVersion: 1 })
    const before = await readDocumentMap(store)
    const again = await fixture.reopen(store)
    assert.deepEqual(await readDocumentMap(again), again.capabilities.durable ? before : new Map())
    // The repeat is still the same write.
    const result = await again.writeDocument(write)
    if (again.capabilities.durable) assert.deepEqual(result, { type: 'written', version: 2 })
    else assert.deepEqual(result, { type: 'conflict', version: 0 })
  })
}
