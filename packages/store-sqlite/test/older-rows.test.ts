import { join } from 'node:path'
import { encodeTags } from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import { MIGRATIONS, STATEMENTS } from '../src/generated/sql.ts'
import { migrate } from '../src/migrate.ts'
import { openDatabase } from '../src/node-driver.ts'
import { openSqliteStore } from '../src/open-sqlite-store.ts'
import { temporaryFolder } from './temporary-folder.ts'
import { aTransaction, makeFinish } from './transactions.ts'

const folder = await temporaryFolder()
const DIGEST = 'a'.repeat(64)
/** The statements of the code that knew the schema before its rows were found by a name, by tags and by a problem. */
const OLD_CREATE = `INSERT INTO transactions (
  gid, kind, status, format, digest, definition, progress, token, write_id, owned, sent_list, due_at,
  created_at, updated_at, room, live, version, epoch, claims, retrying, attention
)
VALUES (?, 0, 1, 1, '${DIGEST}', '{}', '{}', 'a', 'w', 0, 2, 5, 5, 5, zeroblob(9), 1, 1, 1, 0, 0, 0)`
const OLD_FINISH = `UPDATE transactions
SET version = version + 1, write_id = 'w2', status = 3, progress = '{}', retrying = 0, attention = 0, claims = 0,
  room = NULL, owned = 0, live = 0, due_at = 9000000000000000
WHERE gid = ? AND live = 1`

describe('rows of older code', () => {
  it('A row that was written before the columns came is read with none of them', async () => {
    const path = join(folder, 'before.db')
    const database = openDatabase(path)
    migrate(database, 0, MIGRATIONS.slice(0, 3))
    database.prepare(OLD_CREATE).run('old')
    database.close()
    const store = await openSqliteStore({ path })
    const [row] = await store.readMany(['old' as Gid])
    expect(row).toMatchObject({ gid: 'old', createdAt: 5 })
    for (const field of ['name', 'tags', 'problem', 'attempts', 'marks'])
      expect(row).not.toHaveProperty(field)
    expect((await store.list({ limit: 5, order: 'due' })).items.map(({ gid }) => gid)).toEqual(['old'])
    expect(await store.stats()).toMatchObject({ problems: [], paused: 0, byHand: 0, oldestUnfinishedAt: 5 })
    await store.close()
  })

  it('Older code creates and ends rows beside the columns, and a row that it ended has no problem', async () => {
    const path = join(folder, 'beside.db')
    const first = await openSqliteStore({ path })
    const transaction = aTransaction('new', { name: 'transfer', tags: { region: 'eu' } })
    await first.create(transaction)
    const update = { ...makeFinish(transaction), status: 'submitted', hold: { type: 'keep' } } as const
    await first.update({ ...update, problem: 'bank-a action 500', attempts: 3, marks: ['edited'] })
    await first.close()
    const database = openDatabase(path)
    expect(() => migrate(database, 0, MIGRATIONS.slice(0, 3))).not.toThrow()
    database.prepare(OLD_CREATE).run('old')
    database.prepare(OLD_FINISH).run('new')
    database.close()
    const store = await openSqliteStore({ path })
    const [row] = await store.readMany([transaction.gid])
    expect(row).toMatchObject({
      status: 'succeeded',
      name: 'transfer',
      tags: { region: 'eu' },
      marks: ['edited'],
    })
    expect(row).not.toHaveProperty('problem')
    expect(row).not.toHaveProperty('attempts')
    expect(await store.readMany(['old' as Gid])).toHaveLength(1)
    expect(await store.stats()).toMatchObject({ problems: [], unfinished: { submitted: 1 } })
    await store.close()
  })

  it('The tags that are there already are entered in their table, and a purge takes them out', async () => {
    const path = join(folder, 'tagged.db')
    const database = openDatabase(path)
    migrate(database, 0, MIGRATIONS.slice(0, 4))
    const tags = { q: `\\"',[]{}`, region: 'eu' }
    for (const gid of ['tagged', 'untagged']) database.prepare(OLD_CREATE).run(gid)
    database.prepare('UPDATE transactions SET tags = ? WHERE gid = ?').run(encodeTags(tags), 'tagged')
    database.close()
    const store = await openSqliteStore({ path })
    expect((await store.list({ limit: 5, tags })).items.map(({ gid }) => gid)).toEqual(['tagged'])
    const transaction = aTransaction('over', { tags: { region: 'eu', tier: '2' } })
    await store.create(transaction)
    await store.update({ ...makeFinish(transaction), hold: { type: 'finish', retentionMs: 0 } })
    expect(await store.purgeFinished(5)).toEqual({ purged: 1 })
    await store.close()
    const after = openDatabase(path)
    const entries = after.prepare('SELECT tag, created_at, gid FROM tags').all()
    expect(entries.map((row) => [...row])).toEqual([
      [`q:${tags.q}`, 5, 'tagged'],
      ['region:eu', 5, 'tagged'],
    ])
    after.close()
  })

  it('Only rows in trouble are in the indexes of the statistics', async () => {
    const path = join(folder, 'indexes.db')
    const store = await openSqliteStore({ path })
    const [good, bad] = [aTransaction('good'), aTransaction('bad')]
    for (const each of [good, bad]) await store.create(each)
    const keep = { status: 'submitted', hold: { type: 'keep' } } as const
    await store.update({ ...makeFinish(good), ...keep })
    await store.update({ ...makeFinish(bad), ...keep, problem: 'bank-a action 500', marks: ['paused'] })
    await store.close()
    const database = openDatabase(path)
    const counts = 'SELECT count(*) FROM transactions INDEXED BY'
    const problems = 'WHERE live = 1 AND problem IS NOT NULL'
    expect(database.prepare(`${counts} transactions_problem ${problems}`).get()).toEqual([1])
    expect(database.prepare(`${counts} transactions_marks WHERE live = 1 AND marks <> 0`).get()).toEqual([1])
    for (const statement of [STATEMENTS.countProblems, STATEMENTS.countMarks]) {
      const plan = database.prepare(`EXPLAIN QUERY PLAN ${statement}`).all()
      expect(String(plan.map(([, , , detail]) => detail))).toContain('COVERING INDEX')
    }
    database.close()
  })
})
