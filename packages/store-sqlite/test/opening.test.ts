import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { STATEMENTS } from '../src/generated/sql.ts'
import { migrate } from '../src/migrate.ts'
import { openDatabase } from '../src/node-driver.ts'
import { openSqliteStore } from '../src/open-sqlite-store.ts'
import { expectUnavailable } from './expect-unavailable.ts'
import { temporaryFolder } from './temporary-folder.ts'
import { aTransaction } from './transactions.ts'

const folder = await temporaryFolder()

describe('opening', () => {
  it('An opening makes the folder and the file, and the store is class A', async () => {
    const path = join(folder, 'new', 'deep', 'store.db')
    const store = await openSqliteStore({ path })
    expect(store.durabilityClass).toBe('A')
    await store.close()
    expect(existsSync(path)).toBe(true)
    expect(existsSync(`${path}-wal`)).toBe(false)
  })

  it('A store is class B with synchronous NORMAL', async () => {
    const store = await openSqliteStore({ path: join(folder, 'normal.db'), synchronous: 'NORMAL' })
    expect(store.durabilityClass).toBe('B')
    await store.close()
  })

  it('An opening voids every lease: an owned row is due now, and its sent list counts as unknown', async () => {
    const path = join(folder, 'leases.db')
    const store = await openSqliteStore({ path, now: () => 1_000 })
    await store.create(aTransaction('owned', { hold: { type: 'owned', leaseMs: 60_000 }, sentList: 'held' }))
    await store.create(aTransaction('waiting', { hold: { type: 'waiting', dueInMs: 60_000 } }))
    await store.close()
    const again = await openSqliteStore({ path, now: () => 2_000 })
    const tokens = ['1', '2'].map((digit) => digit.repeat(32))
    const { claimed } = await again.claimDue({ limit: 2, leaseMs: 1_000, tokens, formatMax: 1 })
    expect(claimed).toMatchObject([{ gid: 'owned', epoch: 2, sentList: 'unknown' }])
    await again.close()
  })

  it('A file that is no database is refused', async () => {
    const path = join(folder, 'text.db')
    writeFileSync(path, 'This is a letter, not a database. '.repeat(100))
    await expectUnavailable(openSqliteStore({ path }), 'no')
  })
})

describe('migrations', () => {
  const future = (minReader: number) => [
    { version: 99, minReader, name: '099-future', sql: 'CREATE TABLE future (id INTEGER) STRICT' },
  ]

  it('A schema that older code must not touch is refused by name', async () => {
    const path = await fileWith('refused', future(99))
    await expectUnavailable(openSqliteStore({ path }), 'no')
    await expect(openSqliteStore({ path })).rejects.toThrow('schema 99')
  })

  it('A newer schema that older code may read is opened', async () => {
    const store = await openSqliteStore({ path: await fileWith('readable', future(1)) })
    expect(await store.create(aTransaction('a'))).toMatchObject({ type: 'created' })
    await store.close()
  })

  it('A failed migration is rolled back whole', () => {
    const database = openDatabase(join(folder, 'failed.db'))
    const sql = 'CREATE TABLE half (id INTEGER) STRICT; CREATE TABLE half (id INTEGER) STRICT'
    expect(() => migrate(database, 0, [{ version: 1, minReader: 1, name: '001-half', sql }])).toThrow()
    database.close()
    const again = openDatabase(join(folder, 'failed.db'))
    expect(again.prepare("SELECT count(*) FROM sqlite_schema WHERE name = 'half'").get()).toEqual([0])
    again.close()
  })

  async function fileWith(name: string, migrations: Parameters<typeof migrate>[2]): Promise<string> {
    const path = join(folder, `${name}.db`)
    await (await openSqliteStore({ path })).close()
    const database = openDatabase(path)
    migrate(database, 0, migrations)
    database.close()
    return path
  }
})

describe('the due index', () => {
  it('Claims and purges use the due index without a sort or a scan of the table', async () => {
    const path = join(folder, 'plan.db')
    await (await openSqliteStore({ path })).close()
    const database = openDatabase(path)
    const plans = {
      [STATEMENTS.findDue]: [0, 0, 0],
      [STATEMENTS.purge]: [0, 0],
    }
    for (const [sql, values] of Object.entries(plans)) {
      const plan = JSON.stringify(database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...values))
      expect(plan).toContain('transactions_due')
      expect(plan).not.toContain('TEMP B-TREE')
    }
    database.close()
  })
})
