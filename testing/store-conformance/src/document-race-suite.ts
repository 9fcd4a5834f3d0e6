import assert from 'node:assert/strict'
import { DOCUMENTS_MAX, type DocumentWriteResult, type Store } from '@counterstep/core'
import { aDocument, CATEGORY, readDocumentMap, writeAndRead } from './documents.ts'
import type { DefineTest, StoreFixture } from './store-fixture.ts'

// Two tests share 1,000 races, since each of the 2,000 writes is a flush of a database's disk.
const CREATE_RACES = 500
const UPDATE_RACES = 500
/** The number of races under way at once. All wait for the lock of one category, where each holds it for a flush. */
const BATCH = 10
const PLACES_LEFT = 10
/** The lock lets one write through at a time, so more would only wait longer, which a slow disk must not turn into a refusal. */
const IN_FLIGHT = 10

export function documentRaceSuite(test: DefineTest): void {
  test('Exactly one of two creators of one document wins, and the other is told', async (store, fixture) => {
    const writers = await openWriters(store, fixture)
    for (let batch = 0; batch < CREATE_RACES / BATCH; batch++) await raceBatch(writers, `k-${batch}`, 0)
  })

  test('Exactly one of two writers of one version wins, and the other is told', async (store, fixture) => {
    const writers = await openWriters(store, fixture)
    for (let version = 0; version < UPDATE_RACES / BATCH; version++) await raceBatch(writers, 'k', version)
  })

  test('Exactly one of a write and a removal of one version wins', async (store, fixture) => {
    const [left, right] = await openWriters(store, fixture)
    for (let i = 0; i < 40; i++) {
      const { key } = await writeAndRead(store, aDocument(`k-${i}`))
      const write = () => left.writeDocument(aDocument(key, { text: 'kept', expectedVersion: 1 }))
      const remove = () => right.removeDocument({ category: CATEGORY, key, expectedVersion: 1 })
      const calls = i % 2 === 0 ? [write, remove] : [remove, write]
      const results = await Promise.all(calls.map((call) => call()))
      const [wrote, removed] = i % 2 === 0 ? results : results.toReversed()
      const text = (await readDocumentMap(store)).get(key)?.text
      if (removed?.type === 'removed') {
        assert.deepEqual([wrote, text], [{ type: 'conflict', version: 0 }, undefined])
      } else {
        assert.deepEqual(
          [wrote, removed],
          [
            { type: 'written', version: 2 },
            { type: 'conflict', version: 2 },
          ],
        )
        assert.equal(text, 'kept')
      }
    }
  })

  test('One write sent by two at once lands once', async (store, fixture) => {
    const [left, right] = await openWriters(store, fixture)
    for (let version = 0; version < 20; version++) {
      const write = aDocument('a', { text: `v${version}`, expectedVersion: version })
      const results = await Promise.all([left.writeDocument(write), right.writeDocument(write)])
      for (const result of results) assert.deepEqual(result, { type: 'written', version: version + 1 })
      assert.equal((await readDocumentMap(store)).get('a')?.version, version + 1)
    }
  })

  test('A category takes no more than its bound, even from two writers, until a document is removed', async (store, fixture) => {
    const [left, right] = await openWriters(store, fixture)
    await writeAll(store, DOCUMENTS_MAX - PLACES_LEFT)
    const late = await Promise.all(
      Array.from({ length: 2 * PLACES_LEFT }, (_, i) =>
        (i % 2 === 0 ? left : right).writeDocument(aDocument(`late-${i}`)),
      ),
    )
    assert.deepEqual(late.map(({ type }) => type).sort(), [
      ...Array.from({ length: PLACES_LEFT }, () => 'full'),
      ...Array.from({ length: PLACES_LEFT }, () => 'written'),
    ])
    assert.equal((await store.readDocuments(CATEGORY)).length, DOCUMENTS_MAX)
    // An existing document may still be written.
    await writeAndRead(store, aDocument('k-0', { text: 'new', expectedVersion: 1 }))
    assert.deepEqual(await store.writeDocument(aDocument('new')), { type: 'full' })
    assert.equal((await store.writeDocument(aDocument('new', { category: 'other' }))).type, 'written')
    await store.removeDocument({ category: CATEGORY, key: 'k-1', expectedVersion: 1 })
    await writeAndRead(store, aDocument('new'))
  })
}

/** Makes two writes of one version for each key of the batch, one by each writer. The writer that begins alternates. */
async function raceBatch([left, right]: Writers, name: string, expectedVersion: number): Promise<void> {
  const pairs = Array.from({ length: BATCH }, (_, i) => {
    const write = (text: string) => aDocument(`${name}-${i}`, { text, expectedVersion })
    return [write(`left ${expectedVersion}`), write(`right ${expectedVersion}`)] as const
  })
  const races = await Promise.all(
    pairs.map(async (pair, i) => {
      const calls = [() => left.writeDocument(pair[0]), () => right.writeDocument(pair[1])]
      if (i % 2 === 0) return Promise.all(calls.map((call) => call()))
      return (await Promise.all(calls.toReversed().map((call) => call()))).toReversed()
    }),
  )
  const documents = await readDocumentMap(left)
  for (const [i, results] of races.entries()) {
    const version = expectedVersion + 1
    assert.deepEqual(results.map(({ type }) => type).sort(), ['conflict', 'written'])
    for (const result of results) assert.ok('version' in result && result.version === version)
    const winner = pairs[i]?.[results.findIndex(({ type }) => type === 'written')]
    const document = documents.get(`${name}-${i}`)
    assert.deepEqual([document?.text, document?.version], [winner?.text, version])
  }
}

type Writers = readonly [Store, Store]

/** Returns two connections if the store may be shared. */
async function openWriters(store: Store, fixture: StoreFixture): Promise<Writers> {
  return [store, store.capabilities.shared ? await fixture.open() : store]
}

async function writeAll(store: Store, count: number): Promise<void> {
  for (let from = 0; from < count; from += IN_FLIGHT) {
    const keys = Array.from({ length: Math.min(IN_FLIGHT, count - from) }, (_, i) => `k-${from + i}`)
    const results: readonly DocumentWriteResult[] = await Promise.all(
      keys.map((key) => store.writeDocument(aDocument(key))),
    )
    for (const result of results) assert.deepEqual(result, { type: 'written', version: 1 })
  }
}
