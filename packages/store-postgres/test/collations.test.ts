import { LIST_PIECE_ROWS } from '@counterstep/core'
import { describeOn } from '@counterstep/test-servers/vitest'
import { expect, it } from 'vitest'
import { migratePostgres, openPostgresStore } from '../src/open-postgres-store.ts'
import { testDatabases } from './test-database.ts'
import { aTransaction, drawToken } from './transactions.ts'

/** A dictionary has these in another order, and holds some of them for equal or passes over their signs. */
const GIDS = [
  'B',
  'a',
  'A',
  'b',
  '-a',
  'a-',
  'a_',
  '_a',
  'a.b',
  'ab',
  'aB',
  'Ab',
  'a1',
  'a10',
  'a2',
  '~',
  'z',
  'Z',
]
const DUE = { hold: { type: 'waiting', dueInMs: 0 } } as const

/** The second one puts numbers in texts in the order of their values. */
const LOCALES = {
  English: "LOCALE_PROVIDER icu ICU_LOCALE 'en-US' LOCALE 'C'",
  Swedish: "LOCALE_PROVIDER icu ICU_LOCALE 'sv-SE-u-kn-true' LOCALE 'C'",
}

for (const server of ['postgres', 'postgres18'] as const) {
  describeOn(server, 'a database with the order of a language', (serverUrl) => {
    const databases = testDatabases(serverUrl)

    for (const [language, locale] of Object.entries(LOCALES)) {
      it(`Keys and texts are compared by their bytes in a database in ${language}`, async (context) => {
        const name = `cs_${language.toLowerCase()}_${process.pid}_${server}`
        const isBuilt = await databases
          .sql(`CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8' ${locale}`)
          .then(
            () => true,
            (error: unknown) => (error as { code?: string }).code !== '0A000',
          )
        if (!isBuilt) context.skip('this server is built without ICU')
        const url = new URL(serverUrl)
        url.pathname = `/${name}`
        try {
          // Without this the test would prove nothing.
          const [sorted] = await databases.sql("SELECT 'a' < 'B', 'B' < 'a'", url.href)
          expect(sorted).toEqual([true, false])
          await migratePostgres({ url: url.href })
          const store = await openPostgresStore({ url: url.href })
          const created = await Promise.all(GIDS.map((gid) => store.create(aTransaction(gid, DUE))))
          expect(created.map(({ type }) => type)).toEqual(GIDS.map(() => 'created'))
          await databases.sql('UPDATE counterstep_transactions SET created_at = 1, due_at = 1', url.href)
          const bytewise = [...GIDS].sort()
          const items = await readAll((cursor) => store.list({ limit: 4, ...cursor }))
          expect(items).toEqual(bytewise.toReversed())
          for (const gidPrefix of ['a', 'A', '-', '_'])
            expect(
              (await store.list({ limit: LIST_PIECE_ROWS, gidPrefix })).items.map(({ gid }) => gid),
            ).toEqual(bytewise.toReversed().filter((gid) => gid.startsWith(gidPrefix)))
          const tokens = GIDS.map(() => drawToken())
          const { claimed } = await store.claimDue({
            limit: GIDS.length,
            tokens,
            leaseMs: 1_000,
            formatMax: 1,
          })
          expect(claimed.map(({ gid }) => gid)).toEqual(bytewise)
          for (const key of ['a', 'A', 'B', 'b']) {
            const write = { category: 'kv', key, text: key, expectedVersion: 0, writeId: drawToken() }
            expect(await store.writeDocument(write)).toEqual({ type: 'written', version: 1 })
          }
          expect((await store.readDocuments('kv')).map(({ key }) => key)).toEqual(['A', 'B', 'a', 'b'])
          await store.close()
        } finally {
          await databases.sql(`DROP DATABASE ${name} WITH (FORCE)`)
        }
      })
    }
  })
}

type Page = Awaited<ReturnType<Awaited<ReturnType<typeof openPostgresStore>>['list']>>

async function readAll(list: (cursor: Pick<Page, 'cursor'>) => Promise<Page>): Promise<readonly string[]> {
  const gids: string[] = []
  for (let page = await list({}); ; page = await list({ cursor: page.cursor })) {
    gids.push(...page.items.map(({ gid }) => gid))
    if (page.cursor === undefined) return gids
  }
}
