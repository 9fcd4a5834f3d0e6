import { LIST_PIECE_ROWS, LIST_SCAN_MAX, type ListOrder, PARKED_AT, type Store } from '@counterstep/core'
import { toSessionTimeouts } from '@counterstep/store-sql'
import { describeOn } from '@counterstep/test-servers/vitest'
import { describe, expect, it } from 'vitest'
import { MIGRATIONS } from '../src/generated/sql.ts'
import { migrateMysql, openMysqlStore } from '../src/open-mysql-store.ts'
import { ensureSchema } from '../src/schema/schema.ts'
import { toConnectionTarget } from '../src/sessions/connection-target.ts'
import { openSession } from '../src/sessions/open-session.ts'
import { testDatabases } from './test-database.ts'
import { asGid, aTransaction, makeGids, makeUpdate } from './transactions.ts'

const SCHEMA_2 = MIGRATIONS.slice(0, 2)
/** Code of schema 2 sends this. It names its columns, and so none of the later ones. */
const OLD_INSERT = `INSERT INTO counterstep_transactions (
  gid, kind, status, format, digest, definition, progress, token, write_id, owned, sent_list,
  live, version, epoch, claims, retrying, attention, due_at, created_at, updated_at
) VALUES ('old', 0, 1, 1, '0', '{}', '{}', 'a', 'b', 0, 1, 1, 1, 1, 0, 0, 0, 1, 1, 1)`
const OLD_UPDATE = `UPDATE counterstep_transactions SET status = 2, retrying = 0, version = version + 1, write_id = 'c'
  WHERE gid = 'new' AND live = 1`

const FAILING = {
  retrying: true,
  problem: 'bank-a:/debit action 500',
  attempts: 3,
  marks: ['edited'],
} as const
const NAMED = { name: 'transfer', tags: { region: 'eu' } } as const

for (const server of ['mariadb', 'mysql'] as const) {
  describeOn(server, 'names, tags, problems and marks', (serverUrl) => {
    const databases = testDatabases(serverUrl)

    it('Code of schema 2 writes beside the new columns, and its rows have none of their words', async () => {
      const { rootUrl, name } = await databases.empty('schema-2')
      const target = toConnectionTarget(rootUrl, undefined, 2_000)
      const { session } = await openSession(target, { ...toSessionTimeouts({}), autocommit: true })
      expect(await ensureSchema(session, SCHEMA_2)).toEqual({ from: 0, to: 2 })
      await session.run(OLD_INSERT)
      expect(await migrateMysql({ url: rootUrl })).toEqual({ from: 2, to: 4 })
      expect(await ensureSchema(session, SCHEMA_2)).toEqual({ from: 4, to: 4 })
      await session.run(OLD_INSERT.replace("'old'", "'old-2'"))
      const store = await openMysqlStore({ url: rootUrl })
      const transaction = aTransaction('new', NAMED)
      await store.create(transaction)
      await store.update(makeUpdate(transaction, FAILING))
      expect(await session.run(OLD_UPDATE)).toBe(1)
      session.end()
      const rows = await store.readMany(['old', 'old-2', 'new'].map(asGid))
      expect(rows.map(({ gid, status }) => [gid, status])).toEqual(
        expect.arrayContaining([
          ['old', 'submitted'],
          ['old-2', 'submitted'],
          ['new', 'aborting'],
        ]),
      )
      for (const row of rows.filter(({ gid }) => gid !== 'new')) {
        for (const word of ['name', 'tags', 'problem', 'attempts', 'marks'])
          expect(row).not.toHaveProperty(word)
      }
      expect(rows).toContainEqual(expect.objectContaining({ ...NAMED, attempts: 3, marks: ['edited'] }))
      await databases.sql(`DELETE FROM ${name}.counterstep_schema WHERE version >= 3`)
      // The columns are there already, as after a crash before the note.
      expect(await migrateMysql({ url: rootUrl })).toEqual({ from: 2, to: 4 })
      await store.close()
    })

    for (const multiplexed of [false, true]) {
      it(`Rows that are written together keep their own names and problems, ${multiplexed ? 'over a proxy' : 'at once'}`, async () => {
        const { url } = await databases.migrated(`together-${multiplexed}`)
        const store = await openMysqlStore({ url, multiplexed })
        const all = makeGids(40).map((gid, i) => aTransaction(gid, i % 3 === 0 ? NAMED : {}))
        await Promise.all(all.map((each) => store.create(each)))
        const versions = await Promise.all(
          all.map(async (each, i) => {
            const words = i % 4 === 0 ? {} : { problem: `p-${i % 3}`, attempts: i }
            const result = await store.update(
              makeUpdate(each, { ...words, ...(i % 5 === 0 && { marks: ['paused'] }) }),
            )
            return result.type === 'saved' ? result.version : 0
          }),
        )
        for (const [i, each] of all.entries()) {
          const [row] = await store.readMany([each.gid])
          expect([row?.name, row?.tags]).toEqual(
            i % 3 === 0 ? [NAMED.name, NAMED.tags] : [undefined, undefined],
          )
          expect([row?.problem, row?.attempts, row?.marks]).toEqual([
            i % 4 === 0 ? undefined : `p-${i % 3}`,
            i % 4 === 0 ? undefined : i,
            i % 5 === 0 ? ['paused'] : undefined,
          ])
        }
        await Promise.all(all.map((each, i) => store.update(makeUpdate(each, { version: versions[i] ?? 0 }))))
        const { problems, paused } = await store.stats()
        expect([problems, paused]).toEqual([[], 0])
        await store.close()
      })
    }

    describe('a page in the order of the due instants', () => {
      it('reads a bounded number of rows, and goes on behind rows of one instant', async () => {
        const { rootUrl, name } = await databases.migrated('bounded')
        const store = await openMysqlStore({ url: rootUrl })
        const template = aTransaction('template')
        await store.create(template)
        const rows = LIST_SCAN_MAX + 500
        // Three in four are parked, and so due at the same instant.
        await databases.sql(`
          INSERT INTO ${name}.counterstep_transactions (
            gid, live, due_at, created_at, updated_at, version, epoch, format, claims, kind, status, owned, sent_list,
            retrying, attention, token, write_id, digest, progress, definition
          )
          WITH RECURSIVE numbers AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM numbers WHERE n < 1000)
          SELECT
            CONCAT('g-', a.n * 1000 + b.n), 1, IF(b.n % 4 = 0, a.n * 1000 + b.n, ${PARKED_AT}), 1, 1, 1, 1, 1, 0, 0, 1, 0, 1,
            0, 0, 'a', 'b', 'c', '{}', '{}'
          FROM numbers a JOIN numbers b WHERE (a.n - 1) * 1000 + b.n <= ${rows}`)
        for (const order of ['due', 'due-last'] as const) {
          const seen = await readGids(store, order)
          expect(new Set(seen).size).toBe(seen.length)
          expect(seen).toHaveLength(rows + 1)
          const bounded = await store.list({ limit: 1, order, kind: 'message' })
          expect(bounded.items).toEqual([])
          const { cursor = { at: 0, gid: asGid('') } } = bounded
          const scanned = seen.indexOf(cursor.gid) + 1
          // On a busy machine the time ends a page before the number does, behind a whole piece.
          expect(scanned % LIST_PIECE_ROWS).toBe(0)
          expect(scanned).toBeGreaterThan(0)
          expect(scanned).toBeLessThanOrEqual(LIST_SCAN_MAX)
          expect((await store.list({ limit: 1, order, kind: 'message', cursor })).items).toEqual([])
        }
        await store.close()
      }, 60_000)
    })
  })
}

async function readGids(store: Store, order: ListOrder): Promise<readonly string[]> {
  const gids: string[] = []
  for (let page = await store.list({ limit: 3_000, order }); ; ) {
    gids.push(...page.items.map(({ gid }) => gid))
    const { cursor } = page
    if (cursor === undefined) return gids
    page = await store.list({ limit: 3_000, order, cursor })
  }
}
