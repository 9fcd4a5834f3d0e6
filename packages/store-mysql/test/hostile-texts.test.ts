import { startMariadb, startMysql } from '@counterstep/test-servers'
import { describeOwn } from '@counterstep/test-servers/vitest'
import { expect, it } from 'vitest'
import { openMysqlStore } from '../src/open-mysql-store.ts'
import { TestDatabases } from './test-database.ts'
import { asGid, aTransaction, makeUpdate } from './transactions.ts'

const START = { mariadb: startMariadb, mysql: startMysql } as const

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
  `\u00bf'`,
  '\u2019 ʼ ＇',
  '%_',
  '\\'.repeat(1_001),
  "'".repeat(1_001),
]

for (const server of ['mariadb', 'mysql'] as const) {
  describeOwn(server, 'hostile texts', () => {
    it('Hostile texts are kept exactly, whatever sql_mode the server gives its sessions', {
      timeout: 120_000,
    }, async () => {
      const mode = '--sql-mode=NO_BACKSLASH_ESCAPES,ANSI_QUOTES,PIPES_AS_CONCAT'
      const own = await START[server]({ settings: [mode] })
      const databases = new TestDatabases(own.url)
      const { url } = await databases.migrated('hostile')
      const store = await openMysqlStore({ url })
      const transactions = TEXTS.map((text, i) =>
        aTransaction(`t-${i}`, { definition: text, progress: text, token: `${i}${text}`.slice(0, 10) }),
      )
      const gids = TEXTS.filter((text) => Buffer.byteLength(text) < 100).map(asGid)
      await Promise.all(transactions.map((transaction) => store.create(transaction)))
      await Promise.all(gids.map((gid) => store.create(aTransaction(gid))))
      const updates = transactions.map((row) =>
        makeUpdate(row, { progress: `${row.progress}!${row.progress}` }),
      )
      const results = await Promise.all(updates.map((update) => store.update(update)))
      expect(new Set(results.map(({ type }) => type))).toEqual(new Set(['saved']))
      const rows = await store.readMany(transactions.map(({ gid }) => gid))
      expect(new Map(rows.map((row) => [row.gid, [row.definition, row.progress, row.token]]))).toEqual(
        new Map(transactions.map((row, i) => [row.gid, [row.definition, updates[i]?.progress, row.token]])),
      )
      expect((await store.readMany(gids)).map(({ gid }) => gid).sort()).toEqual([...gids].sort())
      await store.close()
      await own.stop()
    })
  })
}
