import { startPostgres, startPostgres18 } from '@counterstep/test-servers'
import { describeOn, describeOwn } from '@counterstep/test-servers/vitest'
import { expect, it } from 'vitest'
import { openPostgresStore } from '../src/open-postgres-store.ts'
import { TestDatabases, testDatabases } from './test-database.ts'
import { asGid, aTransaction, makeUpdate } from './transactions.ts'

const START = { postgres: startPostgres, postgres18: startPostgres18 } as const

const TEXTS: readonly string[] = [
  `'`,
  `\\`,
  `\\'`,
  `'' OR 1=1 -- `,
  `x'); DROP TABLE counterstep_transactions; -- `,
  `"`,
  '`',
  '# /* */ -- ;',
  '/*!50000 SELECT 1 */',
  `\\0 \\n \\Z \\% \\_`,
  '\u0000',
  `a\u0000'b\u0000`,
  '\u001a\b\t\r\n',
  '? ?? :name @variable',
  '💶 ä é \u200b \uffff',
  '\u0001',
  '\u00011\u00010',
  `a\u0001\u0000\u00011`,
  `{"a",NULL}`,
  'NULL',
  '\\x41',
  '\\N',
  '$1 $$ $a$',
  'x'.repeat(1_048_576),
  `\u00bf'`,
  '\u2019 ʼ ＇',
  '%_',
  '\\'.repeat(1_001),
  "'".repeat(1_001),
]

/** Writes each text in each place that takes one, in one flush, and reads it again. */
async function expectKept(url: string, multiplexed: boolean): Promise<void> {
  const store = await openPostgresStore({ url, multiplexed })
  const transactions = TEXTS.map((text, i) =>
    aTransaction(`t-${i}`, { definition: text, progress: text, token: `${i}${text}`.slice(0, 10) }),
  )
  const gids = TEXTS.filter((text) => Buffer.byteLength(text) < 100).map(asGid)
  await Promise.all(transactions.map((transaction) => store.create(transaction)))
  const created = await Promise.all(gids.map((gid) => store.create(aTransaction(gid))))
  expect(new Set(created.map(({ type }) => type))).toEqual(new Set(['created']))
  const updates = transactions.map((row) => makeUpdate(row, { progress: `${row.progress}!${row.progress}` }))
  const results = await Promise.all(updates.map((update) => store.update(update)))
  expect(new Set(results.map(({ type }) => type))).toEqual(new Set(['saved']))
  const rows = await store.readMany(transactions.map(({ gid }) => gid))
  expect(new Map(rows.map((row) => [row.gid, [row.definition, row.progress, row.token]]))).toEqual(
    new Map(transactions.map((row, i) => [row.gid, [row.definition, updates[i]?.progress, row.token]])),
  )
  expect((await store.readMany(gids)).map(({ gid }) => gid).sort()).toEqual([...gids].sort())
  await store.close()
}

for (const server of ['postgres', 'postgres18', 'pgbouncer'] as const) {
  describeOn(server, 'hostile texts', (serverUrl) => {
    const databases = testDatabases(serverUrl)

    it('Hostile texts are kept exactly', { timeout: 120_000 }, async () => {
      await expectKept((await databases.migrated('hostile')).url, server === 'pgbouncer')
    })

    it('Half of a pair of surrogates is kept as the character that stands for no other', async () => {
      const { url } = await databases.migrated('surrogates')
      const store = await openPostgresStore({ url, multiplexed: server === 'pgbouncer' })
      const row = aTransaction('a', { definition: 'a\ud83db', progress: '\udcb6' })
      expect(await store.create(row)).toMatchObject({ type: 'created' })
      expect(await store.readMany([row.gid])).toMatchObject([{ definition: 'a\ufffdb', progress: '\ufffd' }])
      await store.close()
    })
  })
}

for (const server of ['postgres', 'postgres18'] as const) {
  describeOwn(server, 'hostile texts on a server with other settings', () => {
    it('Hostile texts are kept exactly, however the server reads backslashes and writes numbers, bytes and times', {
      timeout: 120_000,
    }, async () => {
      const own = await START[server]({
        settings: [
          '--standard_conforming_strings=off',
          '--backslash_quote=off',
          '--bytea_output=escape',
          '--datestyle=SQL, DMY',
          '--client_encoding=LATIN1',
          '--transform_null_equals=on',
        ],
      })
      const databases = new TestDatabases(own.url)
      await expectKept((await databases.migrated('hostile')).url, false)
      await own.stop()
    })
  })
}
