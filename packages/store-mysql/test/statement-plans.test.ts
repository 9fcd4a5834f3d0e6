import { describeOn } from '@counterstep/test-servers/vitest'
import { expect, it } from 'vitest'
import { STATEMENTS } from '../src/generated/sql.ts'
import { openMysqlStore } from '../src/open-mysql-store.ts'
import { writeListScanEnd } from '../src/reads/list-statements.ts'
import { toConnectionTarget } from '../src/sessions/connection-target.ts'
import type { Value } from '../src/sessions/literal.ts'
import { openSession } from '../src/sessions/open-session.ts'
import type { Session } from '../src/sessions/session.ts'
import { fill, fillRows, parseRowsStatement, parseStatement } from '../src/sessions/statement.ts'
import { NOW_MARK, NOW_SQL } from '../src/transactions/transaction-protocol.ts'
import { toPendingUpdate } from '../src/writes/pending-writes.ts'
import { writeUpdates } from '../src/writes/write-statements.ts'
import { testDatabases } from './test-database.ts'
import { aTransaction, makeGids, makeUpdate } from './transactions.ts'

const noAnswer = () => undefined

const settings = {
  statementTimeoutMs: 5_000,
  connectTimeoutMs: 2_000,
  lockWaitTimeoutMs: 1_000,
  autocommit: true,
}

const CREATED = {
  order: 'created',
  index: 'counterstep_created',
  ranges: [{ sql: 'created_at <= ? AND (created_at < ? OR gid < _binary ?)', values: [1, 1, 'x'] }],
} as const

const TAGGED = {
  order: 'created',
  index: 'counterstep_tags',
  ranges: [{ sql: 'tag = _binary ?', values: ['k:v'] }, ...CREATED.ranges],
} as const

/** Each statement has the index that it must use, and the values of its placeholders: those of a row, then the others. */
const PLANS: Readonly<
  Record<string, readonly [sql: string, key: string, row: readonly Value[], rest: readonly Value[]]>
> = {
  'read keys': [STATEMENTS.readKeys, 'counterstep_gid', ['t-1'], []],
  'read many': [STATEMENTS.readMany, 'counterstep_gid', ['t-1'], []],
  'read existing': [STATEMENTS.readExisting, 'counterstep_gid', ['t-1'], []],
  claim: [STATEMENTS.claim, 'PRIMARY', [1, 'x'], [1, 1]],
  'find renewable': [STATEMENTS.findRenewable, 'counterstep_gid', ['t-1', 'x'], []],
  renew: [STATEMENTS.renew, 'PRIMARY', [1], [1]],
  'read owned': [STATEMENTS.readOwned, 'counterstep_gid', ['t-1', 'x'], []],
  'delete dummy': [STATEMENTS.deleteDummy, 'counterstep_gid', [], ['t-1']],
  purge: [STATEMENTS.purge, 'PRIMARY', [1], []],
  'find due': [STATEMENTS.findDue, 'counterstep_due', [], [1, 1, 10]],
  'find postponable': [STATEMENTS.findPostponable, 'counterstep_due', [], [1, 1, 10]],
  postpone: [STATEMENTS.postpone, 'PRIMARY', [1], [1]],
  'find purgeable': [STATEMENTS.findPurgeable, 'counterstep_due', [], [1, 10]],
  'find one': [STATEMENTS.findOne, 'counterstep_gid', [], ['t-1']],
  'read documents': [STATEMENTS.readDocuments, 'PRIMARY', [], ['topics', 't-1', 32]],
  'count documents': [STATEMENTS.countDocuments, 'PRIMARY', [], ['topics']],
  'count prefixed': [STATEMENTS.countPrefixed, 'counterstep_gid', [], ['t-', 't-\x7f', 10]],
  'find due bound': [STATEMENTS.findDueBound, 'counterstep_due', [], [1, 9]],
  'find due last bound': [STATEMENTS.findDueLastBound, 'counterstep_due', [], [1, 9]],
  'count tagged': [STATEMENTS.countTagged, 'PRIMARY', [], ['k:v', 10]],
  'delete tags': [STATEMENTS.deleteTags, 'PRIMARY', ['k:v', 1, 't-1'], []],
  'tagged scan end': [writeListScanEnd(TAGGED, 9), 'PRIMARY', [], []],
  'list scan end': [writeListScanEnd(CREATED, 9), 'counterstep_created', [], []],
}

for (const server of ['mariadb', 'mysql'] as const) {
  describeOn(server, 'the plans of the statements', (serverUrl) => {
    const databases = testDatabases(serverUrl)

    it('Statements reach the rows by their index, sort nothing, and scan no table, however small it is', async () => {
      const { rootUrl } = await databases.migrated('plans')
      const store = await openMysqlStore({ url: rootUrl })
      await Promise.all(makeGids(20).map((gid) => store.create(aTransaction(gid))))
      for (const key of makeGids(20)) {
        await store.writeDocument({ category: 'topics', key, text: '', expectedVersion: 0, writeId: key })
      }
      await store.close()
      const target = toConnectionTarget(rootUrl, undefined, 2_000)
      const { session } = await openSession(target, settings)
      const { session: lent } = await openSession(target, { ...settings, multiplexed: true })
      for (const [rows, on] of [
        [2, session],
        [30, session],
        [2, lent],
        [30, lent],
      ] as const) {
        const updates = makeGids(rows).map((gid, i) =>
          toPendingUpdate(
            makeUpdate(aTransaction(`${gid}é`), { hold: { type: 'release', dueAt: i } }),
            noAnswer,
            noAnswer,
          ),
        )
        const alone = updates.flatMap((update) => writeUpdates([update]))
        for (const { sql: text } of [...writeUpdates(updates), ...alone]) {
          const plan = await readPlan(on, server, text.replaceAll(NOW_MARK, NOW_SQL))
          expect(plan, `update, ${rows} rows`).toEqual([expect.objectContaining({ key: 'counterstep_gid' })])
          expect(JSON.stringify(plan), `update, ${rows} rows`).not.toContain('filesort')
        }
      }
      for (const [name, [sql, key, row, rest]] of Object.entries(PLANS)) {
        // One row alone is read as a constant, which needs no plan.
        for (const rows of [2, 30]) {
          const text = sql.includes('/*rows')
            ? repeated(sql, row, rows, rest)
            : fill(parseStatement(sql), rest)
          const plan = await readPlan(session, server, text)
          expect(plan, `${name}, ${rows} rows`).toContainEqual(expect.objectContaining({ key }))
          expect(JSON.stringify(plan), `${name}, ${rows} rows`).not.toContain('filesort')
        }
      }
      session.end()
      lent.end()
    })

    it('An update counts the rows that have changed, not those that have matched', async () => {
      const { rootUrl } = await databases.migrated('found-rows')
      const store = await openMysqlStore({ url: rootUrl })
      await store.create(aTransaction('a'))
      await store.close()
      const { session } = await openSession(toConnectionTarget(rootUrl, undefined, 2_000), settings)
      expect(await session.run('UPDATE counterstep_transactions SET attention = attention')).toBe(0)
      expect(await session.run('UPDATE counterstep_transactions SET attention = 1')).toBe(1)
      session.end()
    })
  })
}

function repeated(sql: string, row: readonly Value[], rows: number, rest: readonly Value[]): string {
  const statement = parseRowsStatement(sql)
  return fillRows(
    statement,
    Array.from({ length: rows }, (_, i) =>
      fill(
        statement.row,
        row.map((value) => (value === 't-1' ? `t-${i}` : value)),
      ),
    ),
    rest,
  )
}

interface Step {
  readonly key: string | undefined
  readonly extra: string
}

async function readPlan(
  session: Session,
  server: 'mariadb' | 'mysql',
  sql: string,
): Promise<readonly Step[]> {
  const explain = server === 'mysql' ? 'EXPLAIN FORMAT=TRADITIONAL' : 'EXPLAIN'
  const rows = await session.all(`${explain} ${sql}`)
  return rows.map((row) => ({ key: row.findLast(isKey)?.toString(), extra: String(row.at(-1)) }))
}

function isKey(cell: unknown): boolean {
  return ['PRIMARY', 'counterstep_gid', 'counterstep_due', 'counterstep_created'].includes(String(cell))
}
