import { NEVER_AT, type UpdateHold } from '@counterstep/core'
import { describeOn } from '@counterstep/test-servers/vitest'
import { expect, it } from 'vitest'
import { openMysqlStore } from '../src/open-mysql-store.ts'
import { testDatabases } from './test-database.ts'
import { aTransaction, drawToken, makeUpdate } from './transactions.ts'

const LATER = 7_000_000_000_000

/** This is the row after the write as [due, owned, live], with "now" for the timestamp of the write. */
type Left = readonly [due: unknown, owned: 0 | 1, live: 0 | 1]

/** Each hold has the owned row and the waiting row that it leaves. Holds of one name are written together. */
const HOLDS: readonly (readonly [
  name: string,
  holds: readonly (readonly [hold: UpdateHold, owned: Left, waiting: Left])[],
])[] = [
  ['keep', [1, 2, 3].map(() => [{ type: 'keep' }, ['created', 1, 1], ['created', 0, 1]])],
  [
    'release',
    [LATER, LATER + 7, 0].map((dueAt) => [{ type: 'release', dueAt }, [dueAt, 0, 1], [dueAt, 0, 1]]),
  ],
  [
    'finish',
    [
      [{ type: 'finish', retentionMs: 60_000 }, ['now + 60000', 0, 0], ['now + 60000', 0, 0]],
      [{ type: 'finish', retentionMs: 'never' }, [NEVER_AT, 0, 0], [NEVER_AT, 0, 0]],
      [{ type: 'finish', retentionMs: 0 }, ['now + 0', 0, 0], ['now + 0', 0, 0]],
    ],
  ],
  [
    'finish, all alike',
    [1, 2].map(() => [{ type: 'finish', retentionMs: 60_000 }, ['now + 60000', 0, 0], ['now + 60000', 0, 0]]),
  ],
  [
    'command',
    [
      [{ type: 'command', dueAt: LATER }, ['created', 1, 1], [LATER, 0, 1]],
      [{ type: 'command' }, ['created', 1, 1], ['now + 0', 0, 1]],
      [{ type: 'command', dueAt: LATER + 7 }, ['created', 1, 1], [LATER + 7, 0, 1]],
    ],
  ],
]

/** The version of a waiting row is ahead of the clock, as a failover may leave it. */
const COLUMNS = `due_at, owned, live, status, format, retrying, attention, sent_list, claims, progress, write_id, token, epoch,
  version = IF(gid LIKE 'waiting%', ${LATER + 1}, updated_at)`

const WAYS = [
  ['connections of its own', false],
  ['a proxy', true],
] as const

for (const server of ['mariadb', 'mysql'] as const) {
  describeOn(server, 'an update', (serverUrl) => {
    const databases = testDatabases(serverUrl)

    for (const [way, multiplexed] of WAYS) {
      it.each(HOLDS)(
        `An update leaves its row the same alone and among others, over ${way}: %s`,
        async (name, holds) => {
          const { url, name: database } = await databases.migrated(
            `holds-${multiplexed}-${name.replaceAll(/\W+/g, '-')}`,
          )
          const store = await openMysqlStore({ url, multiplexed })
          const readRow = async (gid: string, createdAt: number) => {
            const sql = `SELECT ${COLUMNS}, updated_at FROM ${database}.counterstep_transactions WHERE gid = '${gid}'`
            const [row = []] = await databases.sql(sql)
            const dueAt = Number(row[0])
            const isGiven = dueAt === 0 || dueAt >= LATER
            const due = isGiven ? dueAt : `now + ${dueAt - Number(row.at(-1))}`
            return [dueAt === createdAt + 10_000 ? 'created' : due, ...row.slice(1, -1).map(String)]
          }
          for (const held of ['owned', 'waiting'] as const) {
            const hold =
              held === 'owned'
                ? ({ type: 'owned', leaseMs: 10_000 } as const)
                : ({ type: 'waiting', dueInMs: 10_000 } as const)
            const pairs = holds.map(([hold, owned, waiting], i) => ({
              token: drawToken(),
              left: held === 'owned' ? owned : waiting,
              gids: [`${held}-${i}-alone`, `${held}-${i}-among`],
              change: {
                hold,
                status: hold.type === 'finish' ? 'failed' : 'aborting',
                format: 1,
                progress: `{"text":"it's ? é💶 a \\ text LAST_INSERT_ID() /*hold*/ ${i}"}`,
                retrying: true,
                attention: true,
                writeId: drawToken(),
                ...(held === 'waiting' ? { version: LATER } : { sentList: 'released' as const }),
              } as const,
            }))
            const rows = pairs.flatMap(({ gids, token, change, left }) =>
              gids.map((gid) => ({ row: aTransaction(gid, { hold, token }), change, left })),
            )
            const created = await Promise.all(rows.map(({ row }) => store.create(row)))
            if (held === 'waiting') {
              await databases.sql(
                `UPDATE ${database}.counterstep_transactions SET version = ${LATER} WHERE gid LIKE 'waiting%'`,
              )
            }
            const update = ({ row, change }: (typeof rows)[number]) => store.update(makeUpdate(row, change))
            const alone = rows.filter((_, i) => i % 2 === 0)
            const among = rows.filter((_, i) => i % 2 === 1)
            for (const each of alone) expect((await update(each)).type).toBe('saved')
            const saved = await Promise.all(among.map(update))
            expect(saved.map(({ type }) => type)).toEqual(among.map(() => 'saved'))
            const found = await Promise.all(
              rows.map(({ row }, i) => {
                const result = created[i]
                return readRow(row.gid, result?.type === 'created' ? result.createdAt : Number.NaN)
              }),
            )
            for (const [i, { left, change }] of rows.entries()) {
              const [due, owned, live] = left
              expect(found[i]?.slice(0, 3)).toEqual([due, String(owned), String(live)])
              expect(found[i]?.slice(9, 11)).toEqual([change.progress, change.writeId])
              expect(found[i]?.at(-1)).toBe('1')
              if (i % 2 === 1) expect(found[i]).toEqual(found[i - 1])
            }
          }
          await store.close()
        },
      )
    }
  })
}
