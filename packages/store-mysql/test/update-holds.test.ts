import { NEVER_AT, type UpdateHold } from '@counterstep/core'
import { describeOn } from '@counterstep/test-servers/vitest'
import { expect, it } from 'vitest'
import { openMysqlStore } from '../src/open-mysql-store.ts'
import { testDatabases } from './test-database.ts'
import { aTransaction, drawToken, updateOf } from './transactions.ts'

const LATER = 7_000_000_000_000

/** What each leaves of a row that is owned, and of one that waits: [due, owned, live], "now" for the instant of the write. */
const HOLDS: readonly (readonly [name: string, hold: UpdateHold, owned: unknown, waiting: unknown])[] = [
  ['keep', { type: 'keep' }, ['created', 1, 1], ['created', 0, 1]],
  ['release', { type: 'release', dueAt: LATER }, [LATER, 0, 1], [LATER, 0, 1]],
  ['finish', { type: 'finish', retentionMs: 60_000 }, ['now + 60000', 0, 0], ['now + 60000', 0, 0]],
  ['finish for ever', { type: 'finish', retentionMs: 'never' }, [NEVER_AT, 0, 0], [NEVER_AT, 0, 0]],
  ['command', { type: 'command', dueAt: LATER }, ['created', 1, 1], [LATER, 0, 1]],
  ['command, due now', { type: 'command' }, ['created', 1, 1], ['now + 0', 0, 1]],
]

/** The version of a waiting row is ahead of the clock, as a failover may leave it. */
const COLUMNS = `due_at, owned, live, status, format, retrying, attention, sent_list, claims, progress, write_id, token, epoch,
  version = IF(gid LIKE 'waiting%', ${LATER + 1}, updated_at)`

for (const server of ['mariadb', 'mysql'] as const) {
  describeOn(server, 'an update that is alone in its flush', (serverUrl) => {
    const databases = testDatabases(serverUrl)

    it.each(HOLDS)('leaves its row as one among others does: %s', async (name, hold, owned, waiting) => {
      const { url, name: database } = await databases.migrated(`alone-${name.replaceAll(/\W+/g, '-')}`)
      const store = await openMysqlStore({ url })
      const holds = {
        owned: { type: 'owned', leaseMs: 10_000 },
        waiting: { type: 'waiting', dueInMs: 10_000 },
      } as const
      const rowOf = async (gid: string, createdAt: number) => {
        const sql = `SELECT ${COLUMNS}, updated_at FROM ${database}.counterstep_transactions WHERE gid = '${gid}'`
        const [row = []] = await databases.sql(sql)
        const dueAt = Number(row[0])
        const now = Number(row.at(-1))
        const distance = dueAt - now
        const due = dueAt === createdAt + 10_000 ? 'created' : dueAt >= LATER ? dueAt : `now + ${distance}`
        return [due, ...row.slice(1, -1).map(String)]
      }
      for (const [held, expected] of [
        ['owned', owned],
        ['waiting', waiting],
      ] as const) {
        const token = drawToken()
        const transactions = ['alone', 'one', 'other'].map((gid) =>
          aTransaction(`${held}-${gid}`, { hold: holds[held], token }),
        )
        const created = await Promise.all(transactions.map((transaction) => store.create(transaction)))
        const isAhead = held === 'waiting'
        if (isAhead) {
          await databases.sql(
            `UPDATE ${database}.counterstep_transactions SET version = ${LATER} WHERE gid LIKE 'waiting%'`,
          )
        }
        const change = {
          hold,
          status: hold.type === 'finish' ? 'failed' : 'aborting',
          format: 1,
          progress: `{"text":"it's ? a \\ text LAST_INSERT_ID() /*hold*/"}`,
          retrying: true,
          attention: true,
          writeId: drawToken(),
          ...(isAhead ? { version: LATER } : { sentList: 'released' as const }),
        } as const
        const [alone, ...others] = transactions.map((transaction) =>
          store.update.bind(store, updateOf(transaction, change)),
        )
        const saved = [await alone?.(), ...(await Promise.all(others.map((update) => update())))]
        expect(saved.map((result) => result?.type)).toEqual(['saved', 'saved', 'saved'])
        const [first, ...rest] = await Promise.all(
          transactions.map(({ gid }, i) => {
            const result = created[i]
            return rowOf(gid, result?.type === 'created' ? result.createdAt : Number.NaN)
          }),
        )
        const expectedRow = (expected as readonly unknown[]).map((value, i) =>
          i === 0 ? value : String(value),
        )
        expect(first?.slice(0, 3)).toEqual(expectedRow)
        expect(first?.at(-1)).toBe('1')
        for (const row of rest) expect(row).toEqual(first)
      }
      await store.close()
    })
  })
}
