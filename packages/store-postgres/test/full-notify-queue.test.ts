import { startPostgres18 } from '@counterstep/test-servers'
import { describeOwn } from '@counterstep/test-servers/vitest'
import pg from 'pg'
import { expect, it } from 'vitest'
import { openPostgresStore } from '../src/open-postgres-store.ts'
import { TestDatabases } from './test-database.ts'
import { aTransaction, makeUpdate } from './transactions.ts'

/** The server's own bound is 8 GB. */
const PAGES = 64
const TEXT_BYTES = 7_000

/** Notifies in one database while a session that listens there stays within a transaction, until the queue is full. */
async function fillQueue(url: string): Promise<() => Promise<void>> {
  const [listener, notifier] = [new pg.Client(url), new pg.Client(url)]
  await Promise.all([listener.connect(), notifier.connect()])
  await listener.query('LISTEN noise')
  await listener.query('BEGIN')
  await listener.query('SELECT 1')
  const notify = `SELECT count(pg_notify('noise', g || repeat('x', ${TEXT_BYTES}))) FROM generate_series(1, 20) g`
  const fill = async () => {
    for (let n = 0; n < 10 * PAGES; n++) await notifier.query(notify)
  }
  await expect(fill()).rejects.toMatchObject({ code: '54000' })
  return async () => {
    await Promise.all([listener.end(), notifier.end()])
  }
}

describeOwn('postgres18', 'a full queue of NOTIFY', () => {
  it('A command is saved though no other node can be told of it', async () => {
    const server = await startPostgres18({ settings: [`--max_notify_queue_pages=${PAGES}`] })
    const databases = new TestDatabases(server.url)
    const { url } = await databases.migrated('full')
    const store = await openPostgresStore({ url })
    const rows = ['a', 'b', 'c'].map((gid) => aTransaction(gid))
    await Promise.all(rows.map((row) => store.create(row)))
    const end = await fillQueue(server.url)
    const [first, second, third] = rows.map((row) => makeUpdate(row))
    if (first === undefined || second === undefined || third === undefined) throw new Error('three rows')
    const saved = await Promise.all([
      store.update({ ...first, hold: { type: 'command' } }),
      store.update({ ...second, hold: { type: 'command' } }),
      store.update(third),
    ])
    expect(saved.map(({ type }) => type)).toEqual(['saved', 'saved', 'saved'])
    await end()
    await store.close()
    await databases.drop()
    await server.stop()
  })
})
