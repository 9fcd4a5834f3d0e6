import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import { migrateBarrier, purgeBarrier, type SqliteDatabase } from '../../src/barrier/sqlite.ts'
import { type GroupCall, groupedBranch } from '../../src/grouped/grouped.ts'
import { sqliteGroupBarrier } from '../../src/grouped/sqlite.ts'
import type { BarrierFixture } from '../barrier/barrier-fixture.ts'
import { barrierSuite } from '../barrier/barrier-suite.ts'
import { BetterSqlite3Twin } from '../barrier/better-sqlite3-twin.ts'
import { purging, suiteClock } from '../barrier/suite-clock.ts'
import { groupSuite } from './group-suite.ts'
import { groupedFixture, MANNERS } from './grouped-fixture.ts'

const DATABASES: readonly (readonly [string, () => SqliteDatabase])[] = [
  ['better-sqlite3', () => new BetterSqlite3Twin(':memory:')],
  ['node:sqlite', () => new DatabaseSync(':memory:')],
]

function write(tx: SqliteDatabase, calls: readonly GroupCall<unknown>[]): void {
  const insert = tx.prepare('INSERT INTO effect (gid, op) VALUES (?, ?)')
  for (const { call } of calls) insert.run(call.gid, call.op)
}

function toFixture(database: SqliteDatabase): BarrierFixture {
  migrateBarrier(database)
  database.exec('CREATE TABLE effect (number INTEGER PRIMARY KEY, gid TEXT, op TEXT)')
  const column = (sql: string, gid: string): unknown[] =>
    database
      .prepare(sql)
      .all(gid)
      .map((row) => (row as { readonly found: unknown }).found)
  return {
    run: () => Promise.reject(new Error('the fixture of the plain barrier is not used')),
    effects: async (gid) =>
      column('SELECT op AS found FROM effect WHERE gid = ? ORDER BY number', gid).map(String),
    rows: async (gid) =>
      Number(column('SELECT count(*) AS found FROM counterstep_barrier WHERE gid = ?', gid)[0]),
    rollsBack: true,
    purge: (before) => void purgeBarrier(database, purging(before)),
    close: async () => undefined,
  }
}

for (const [name, open] of DATABASES) {
  for (const manner of MANNERS) {
    barrierSuite({
      name: `${name}, grouped, whose apply ${manner}`,
      width: 64,
      open: async () => {
        const database = open()
        return groupedFixture(
          toFixture(database),
          () => sqliteGroupBarrier(database, suiteClock),
          write,
          manner,
        )
      },
    })
  }

  groupSuite(name, async () => {
    const database = open()
    const { effects, rows, close } = toFixture(database)
    const barrier = sqliteGroupBarrier(database)
    const deadlock = () => Object.assign(new Error('database is locked'), { errcode: 5, code: 'SQLITE_BUSY' })
    const rollBack = (tx: SqliteDatabase): void => {
      tx.exec('ROLLBACK')
    }
    database.exec(`PRAGMA foreign_keys = ON; CREATE TABLE parent (id INTEGER PRIMARY KEY);
      CREATE TABLE child (parent INTEGER REFERENCES parent DEFERRABLE INITIALLY DEFERRED)`)
    const deferred = {
      write: (tx: SqliteDatabase, calls: readonly GroupCall<unknown>[]) => {
        for (const _ of calls) tx.exec('INSERT INTO child VALUES (7)')
      },
      isViolation: (error: unknown) => String(error).includes('FOREIGN KEY'),
    }
    return { barrier, write, effects, rows, close, rollBack, deadlock, deferred, isConcurrent: false }
  })

  describe(`a group on ${name}`, () => {
    const CALL = { gid: 'g', branchId: '01', op: 'action' } as const

    it('A grouped branch refuses an async apply and an async handler when they are given, and a promise when it is returned', async () => {
      const database = open()
      const fixture = toFixture(database)
      const barrier = sqliteGroupBarrier(database)
      expect(() => groupedBranch(barrier, { key: () => 'one', apply: async () => [] })).toThrow(/synchronous/)
      const branch = groupedBranch(barrier, {
        key: () => 'one',
        apply: (tx, calls) => {
          write(tx, calls)
          return Promise.resolve(calls.map(() => 0))
        },
      })
      expect(() => branch.assertHandler?.(async () => 0)).toThrow(/synchronous/)
      await expect(branch.run(CALL, () => 0)).rejects.toMatchObject({ code: 'BARRIER_EFFECT_ASYNC' })
      await expect(branch.run(CALL, () => Promise.resolve(0))).rejects.toMatchObject({
        code: 'BARRIER_EFFECT_ASYNC',
      })
      expect([await fixture.effects('g'), await fixture.rows('g')]).toEqual([[], 0])
    })

    it('A group waits until a foreign transaction is off the connection', async () => {
      const database = open()
      const fixture = toFixture(database)
      let asked = 0
      const watched: SqliteDatabase = new Proxy(database, {
        get: (target, property) => {
          const value: unknown = Reflect.get(target, property)
          // The foreign transaction ends when the group has found it open for the second time.
          if (String(property).endsWith('ransaction') && value === true && ++asked === 2)
            database.exec('ROLLBACK')
          return typeof value === 'function' ? value.bind(target) : value
        },
      })
      const branch = groupedBranch(sqliteGroupBarrier(watched), {
        key: () => 'one',
        apply: (_tx, calls) => {
          write(database, calls)
          return calls.map(() => 0)
        },
      })
      database.exec('BEGIN; INSERT INTO effect (gid, op) VALUES (1, 2)')
      expect((await branch.run(CALL, () => 0)).decision).toBe('run')
      expect([await fixture.effects('g'), await fixture.rows('g'), await fixture.effects('1')]).toEqual([
        ['action'],
        1,
        [],
      ])
    })
  })
}
