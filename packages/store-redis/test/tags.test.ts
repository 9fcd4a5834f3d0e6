import { describeOn } from '@counterstep/test-servers/vitest'
import { expect, it } from 'vitest'
import { askOwner } from './ask-owner.ts'
import { eventually } from './eventually.ts'
import { openedForTests } from './open-stores.ts'
import { aTransaction, created, makeUpdate, saved } from './transactions.ts'

const TAGS = { region: 'eu', q: '%0A%\\"' }

for (const server of ['redis', 'redis-cluster'] as const) {
  describeOn(server, 'the index of the tags', (url) => {
    const { open, connect } = openedForTests()

    it('A purge takes the tags of a row out of the index, though the row has expired by then', async () => {
      const { store, keysFor } = await open(url)
      const connections = await connect(url)
      const { row, tags, tagged } = { ...keysFor('a'), row: keysFor('a').row('a') }
      const count = async () => [
        await askOwner(connections, 'ZCARD', tags),
        await askOwner(connections, 'ZCARD', tagged),
      ]
      const transaction = await created(store, aTransaction('a', { tags: TAGS }))
      expect(await count()).toEqual([2, 0])
      await saved(store, makeUpdate(transaction, { type: 'finish', retentionMs: 1 }))
      expect(await count()).toEqual([2, 1])
      await eventually(
        'the row',
        () => askOwner(connections, 'EXISTS', row),
        (found) => found === 0,
      )
      expect((await store.list({ limit: 5, tags: TAGS })).items).toEqual([])
      expect(await store.purgeFinished(10)).toEqual({ purged: 1 })
      expect(await count()).toEqual([0, 0])
    })

    it('A gid that is used again before the purge keeps its new tags, and loses the old ones', async () => {
      const { store, keysFor } = await open(url)
      const connections = await connect(url)
      const { tags, tagged } = keysFor('a')
      const transaction = await created(store, aTransaction('a', { tags: TAGS }))
      await saved(store, makeUpdate(transaction, { type: 'finish', retentionMs: 1 }))
      await eventually(
        'the row',
        () => store.readMany([transaction.gid]),
        (rows) => rows.length === 0,
      )
      await created(store, aTransaction('a', { tags: { region: 'us' } }))
      const other = await created(store, aTransaction('b', { tags: {} }))
      await saved(store, makeUpdate(other, { type: 'finish', retentionMs: 1 }))
      expect((await store.list({ limit: 5, tags: { region: 'us' } })).items).toHaveLength(1)
      expect((await store.list({ limit: 5, tags: { region: 'eu' } })).items).toEqual([])
      if (keysFor('a') !== keysFor('b')) return
      await eventually('the purge', async () => (await store.purgeFinished(10)).purged)
      expect(await askOwner(connections, 'ZCARD', tags)).toBe(1)
      expect(await askOwner(connections, 'ZCARD', tagged)).toBe(0)
    })

    it('A row that is never purged, and one without tags, are not waited for', async () => {
      const { store, keysFor } = await open(url)
      const connections = await connect(url)
      const kept = await created(store, aTransaction('kept', { tags: TAGS }))
      await saved(store, makeUpdate(kept, { type: 'finish', retentionMs: 'never' }))
      const plain = await created(store, aTransaction('plain', { name: 'transfer' }))
      await saved(store, makeUpdate(plain, { type: 'finish', retentionMs: 60_000 }))
      for (const gid of ['kept', 'plain'])
        expect(await askOwner(connections, 'ZCARD', keysFor(gid).tagged)).toBe(0)
      expect((await store.list({ limit: 5, tags: TAGS })).items.map(({ gid }) => gid)).toEqual(['kept'])
    })
  })
}
