import type { Tags } from '@counterstep/core'
import { describeOn } from '@counterstep/test-servers/vitest'
import { expect, it } from 'vitest'
import { openPostgresStore } from '../src/open-postgres-store.ts'
import { testDatabases } from './test-database.ts'
import { aTransaction, makeUpdate } from './transactions.ts'

const EU: Tags = { region: 'eu', q: `'";\\` }
for (const server of ['postgres', 'postgres18'] as const) {
  describeOn(server, 'the table of the tags', (serverUrl) => {
    const databases = testDatabases(serverUrl)
    const readTags = (ownerUrl: string) =>
      databases.sql('SELECT tag, gid FROM counterstep_tags ORDER BY tag, gid', ownerUrl)

    it('A purge leaves no entry, and rows without tags have none', async () => {
      const { url, ownerUrl } = await databases.migrated('tags-purged')
      const store = await openPostgresStore({ url })
      for (const tags of [EU, undefined]) {
        const transaction = aTransaction(`t-${tags?.region}`, tags && { tags })
        await store.create(transaction)
        await store.update(
          makeUpdate(transaction, { status: 'succeeded', hold: { type: 'finish', retentionMs: 0 } }),
        )
      }
      await store.create(aTransaction('kept', { tags: { region: 'eu' } }))
      expect(await readTags(ownerUrl)).toHaveLength(3)
      expect(await store.purgeFinished(10)).toEqual({ purged: 2 })
      expect(await readTags(ownerUrl)).toEqual([['region:eu', 'kept']])
      await store.close()
    })

    it('A flush in which a row is refused enters the tags of the others, each once, and none of the refused', async () => {
      const { url, ownerUrl } = await databases.migrated('tags-refused')
      const store = await openPostgresStore({ url })
      const first = aTransaction('a', { tags: { first: 'yes' } })
      await store.create(first)
      const results = await Promise.all(
        ['a', 'b', 'c'].map((gid) => store.create(aTransaction(gid, { tags: { region: gid } }))),
      )
      expect(results.map(({ type }) => type)).toEqual(['exists', 'created', 'created'])
      expect(await store.create(first)).toMatchObject({ type: 'created' })
      const entries = [
        ['first:yes', 'a'],
        ['region:b', 'b'],
        ['region:c', 'c'],
      ]
      expect(await readTags(ownerUrl)).toEqual(entries)
      await store.close()
    })

    it('An entry of a gid that was used again since leads to no row, and the page is not longer for it', async () => {
      const { url, ownerUrl } = await databases.migrated('tags-again')
      const store = await openPostgresStore({ url })
      await store.create(aTransaction('a', { tags: EU }))
      await databases.sql('UPDATE counterstep_transactions SET created_at = created_at + 1', ownerUrl)
      const tags = { region: 'eu' }
      expect((await store.list({ limit: 5, tags })).items).toEqual([])
      await store.create(aTransaction('b', { tags: EU }))
      expect((await store.list({ limit: 5, tags })).items.map(({ gid }) => gid)).toEqual(['b'])
      expect((await store.list({ limit: 5, tags: EU })).items.map(({ gid }) => gid)).toEqual(['b'])
      await store.close()
    })
  })
}
