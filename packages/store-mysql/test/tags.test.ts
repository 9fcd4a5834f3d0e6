import type { Tags } from '@counterstep/core'
import { toSessionTimeouts } from '@counterstep/store-sql'
import { describeOn } from '@counterstep/test-servers/vitest'
import { expect, it } from 'vitest'
import { MIGRATIONS } from '../src/generated/sql.ts'
import { migrateMysql, openMysqlStore } from '../src/open-mysql-store.ts'
import { ensureSchema } from '../src/schema/schema.ts'
import { toConnectionTarget } from '../src/sessions/connection-target.ts'
import { openSession } from '../src/sessions/open-session.ts'
import { testDatabases } from './test-database.ts'
import { aTransaction, makeUpdate } from './transactions.ts'

const EU: Tags = { region: 'eu', q: `'";\\` }
/** A row of the code that had tags and no index of them. Its tags are those of `EU`, and the longest that there can be. */
const insertTagged = (gid: string, tags: string) => `INSERT INTO counterstep_transactions (
  gid, kind, status, format, digest, definition, progress, token, write_id, owned, sent_list,
  live, version, epoch, claims, retrying, attention, due_at, created_at, updated_at, tags
) VALUES ('${gid}', 0, 1, 1, '0', '{}', '{}', 'a', 'b', 0, 1, 1, 1, 1, 0, 0, 0, 1, 7, 1, ${tags})`

for (const server of ['mariadb', 'mysql'] as const) {
  describeOn(server, 'the table of the tags', (serverUrl) => {
    const databases = testDatabases(serverUrl)
    const readTags = (name: string) =>
      databases.sql(
        `SELECT CONVERT(tag USING utf8mb4), CONVERT(gid USING utf8mb4) FROM ${name}.counterstep_tags`,
      )

    it('The migration enters the tags that are there already, also when it runs again after a crash', async () => {
      const { rootUrl, name } = await databases.empty('tags-before')
      const target = toConnectionTarget(rootUrl, undefined, 2_000)
      const { session } = await openSession(target, { ...toSessionTimeouts({}), autocommit: true })
      await ensureSchema(session, MIGRATIONS.slice(0, 3))
      const eight = Array.from({ length: 8 }, (_, i) => `k${i}:${i}`)
      await session.run(insertTagged('one', `'\\nregion:eu\\n'`))
      await session.run(insertTagged('two', `'\\nq:\\'";\\\\\\nregion:eu\\n'`))
      await session.run(insertTagged('eight', `'\\n${eight.join('\\n')}\\n'`))
      await session.run(insertTagged('none', 'NULL'))
      for (const sql of MIGRATIONS[3].statements) await session.run(sql)
      session.end()
      expect(await migrateMysql({ url: rootUrl })).toEqual({ from: 3, to: 4 })
      expect((await readTags(name)).toSorted()).toEqual(
        [
          ['region:eu', 'one'],
          ...Object.entries(EU).map(([key, value]) => [`${key}:${value}`, 'two']),
          ...eight.map((tag) => [tag, 'eight']),
        ].toSorted(),
      )
      const store = await openMysqlStore({ url: rootUrl })
      const { items } = await store.list({ limit: 5, tags: EU })
      expect(items.map(({ gid, tags }) => [gid, tags])).toEqual([['two', EU]])
      await store.close()
    })

    it('A purge leaves no entry, and rows without tags have none', async () => {
      const { url, name } = await databases.migrated('tags-purged')
      const store = await openMysqlStore({ url })
      for (const tags of [EU, undefined]) {
        const transaction = aTransaction(`t-${tags?.region}`, tags && { tags })
        await store.create(transaction)
        await store.update(
          makeUpdate(transaction, { status: 'succeeded', hold: { type: 'finish', retentionMs: 0 } }),
        )
      }
      await store.create(aTransaction('kept', { tags: { region: 'eu' } }))
      expect(await readTags(name)).toHaveLength(3)
      expect(await store.purgeFinished(10)).toEqual({ purged: 2 })
      expect(await readTags(name)).toEqual([['region:eu', 'kept']])
      await store.close()
    })

    it('A flush in which a row is refused enters the tags of the others, each once, and none of the refused', async () => {
      const { url, name } = await databases.migrated('tags-refused')
      const store = await openMysqlStore({ url })
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
      expect(await readTags(name)).toEqual(entries)
      await expect(store.create(aTransaction('long', { tags: { k: 'v'.repeat(288) } }))).rejects.toThrow(
        'a tag that is too long',
      )
      expect(await readTags(name)).toEqual(entries)
      await store.close()
    })

    it('S24: A user without the rights on the table is refused, and they are named', async () => {
      const { url } = await databases.migrated('tags-rights')
      await databases.revoke('tags-rights', 'INSERT, DELETE ON ?.counterstep_tags')
      const refused = openMysqlStore({ url })
      await expect(refused).rejects.toMatchObject({ code: 'SAGA_STORE_UNSUPPORTED' })
      await expect(refused).rejects.toThrow('may not SELECT or INSERT, DELETE on counterstep_tags')
    })
  })
}
