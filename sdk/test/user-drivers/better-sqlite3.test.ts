import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { checkBarrier, migrateBarrier, type SqliteDatabase, sqliteBarrier } from '../../src/barrier/sqlite.ts'
import { sqliteGroupBarrier } from '../../src/grouped/sqlite.ts'
import { BranchFailure } from '../../src/index.ts'
import { barrierSuite } from '../barrier/barrier-suite.ts'
import { BetterSqlite3Twin } from '../barrier/better-sqlite3-twin.ts'
import { messageSuite } from '../barrier/message-suite.ts'
import { act, opened, readEffects, toFixture } from '../barrier/sqlite-fixture.ts'
import { installUserDrivers } from './install-user-drivers.ts'

/** This is the part of the real package that these tests use, whose types are checked where the SDK is packed. */
interface BetterSqlite3 extends SqliteDatabase {
  defaultSafeIntegers(toggle: boolean): BetterSqlite3
  close(): unknown
}
type OpenBetterSqlite3 = new (path: string, options?: { readonly timeout: number }) => BetterSqlite3

/** This is the part of Drizzle's database that these tests use. */
interface Drizzle {
  insert(table: unknown): { values(row: object): { run(): unknown } }
  select(): { from(table: unknown): { all(): unknown[] } }
  transaction(work: (inner: Drizzle) => unknown): unknown
}

const require = createRequire(join(await installUserDrivers(), 'package.json'))
const Database = require('better-sqlite3') as OpenBetterSqlite3
const { drizzle } = require('drizzle-orm/better-sqlite3') as { drizzle(client: object): Drizzle }

const CALL = { gid: 'g', branchId: '01', op: 'action' } as const
const open = async () => toFixture(opened(() => new Database(':memory:')))

/** Reads the first row of a query, and leaves the query open. */
function readFirst(database: SqliteDatabase): { readonly rows: Iterator<unknown>; readonly value: unknown } {
  const statement = database.prepare('SELECT gid FROM effect') as unknown as {
    iterate(): Iterator<unknown>
  }
  const rows = statement.iterate()
  return { rows, value: rows.next().value }
}

barrierSuite({ name: 'better-sqlite3 itself', open, width: 64 })
messageSuite({ name: 'better-sqlite3 itself', open, width: 64 })

describe('the SQLite barrier with better-sqlite3 itself', () => {
  it('The barrier reads its rows with defaultSafeIntegers', async () => {
    const database = new Database(':memory:').defaultSafeIntegers(true)
    migrateBarrier(database)
    expect(checkBarrier(database)).toBeUndefined()
    const barrier = sqliteBarrier(database)
    expect(await barrier.run(CALL, () => 7)).toEqual({ decision: 'run', answer: '7' })
    expect(await barrier.run(CALL, () => 8)).toEqual({ decision: 'duplicate', answer: '7' })
  })

  it('A query that the effect has left open on its handle keeps neither this call nor the next from its end', async () => {
    const database = opened(() => new Database(':memory:'))
    const barrier = sqliteBarrier(database)
    const outcome = await barrier.run(CALL, (tx) => {
      act(tx, CALL, { does: 'succeed' })
      return readFirst(tx).value
    })
    expect(outcome).toEqual({ decision: 'run', answer: '{"gid":"g"}' })
    const next = { ...CALL, gid: 'h' }
    const failing = barrier.run(next, (tx) => {
      act(tx, next, { does: 'succeed' })
      readFirst(tx)
      throw new BranchFailure('said no')
    })
    await expect(failing).rejects.toThrow('said no')
    expect((await barrier.run(next, (tx) => act(tx, next, { does: 'succeed' }))).decision).toBe('run')
    const groupRunner = sqliteGroupBarrier(database).groupRunner
    const passes = ['i', 'j'].map((gid) => ({
      admitted: groupRunner.admit({ ...CALL, gid }),
      entry: () => 0,
    }))
    const verdicts = await groupRunner.run(passes, (tx, { length }) =>
      Array(length).fill(readFirst(tx).value),
    )
    expect(verdicts).toMatchObject(Array(2).fill({ outcome: { decision: 'run' } }))
    expect(database.inTransaction).toBe(false)
  })

  it('A transaction that a query of other code kept open is rolled back when that has ended', async () => {
    const database = opened(() => new Database(':memory:'))
    const barrier = sqliteBarrier(database)
    database.exec("INSERT INTO effect (gid, op) VALUES ('x', 'x')")
    const open = (): Iterator<unknown> => {
      let rows: Iterator<unknown> | undefined
      const effect = (tx: SqliteDatabase) => {
        act(tx, CALL, { does: 'succeed' })
        rows = readFirst(database).rows
      }
      expect(() => barrier.runSync(CALL, effect)).toThrow('busy')
      expect(database.inTransaction).toBe(true)
      // It is no savepoint of the transaction that is open still.
      expect(() => barrier.runSync(CALL, () => 'done')).toThrow('another transaction is open')
      if (rows === undefined) throw new Error('the effect has not run')
      return rows
    }
    open().return?.()
    await expect.poll(() => database.inTransaction).toBe(false)
    expect(readEffects(database, 'g')).toEqual([])
    open().return?.()
    expect(barrier.runSync(CALL, (tx) => act(tx, CALL, { does: 'succeed' })).decision).toBe('run')
    expect([database.inTransaction, readEffects(database, 'g')]).toEqual([false, ['action']])
    expect((await barrier.run(CALL, () => 0)).decision).toBe('duplicate')
  })

  it('Drizzle writes through the handle of the barrier, and a query that is never run is refused', async () => {
    const database = opened(() => new Database(':memory:'))
    const barrier = sqliteBarrier(database)
    const effect = sqliteTable('effect', { gid: text('gid'), op: text('op') })
    const query = (tx: SqliteDatabase) => drizzle(tx).insert(effect).values({ gid: 'g', op: 'action' })
    await expect(barrier.run(CALL, query)).rejects.toMatchObject({ code: 'BARRIER_EFFECT_ASYNC' })
    const outcome = await barrier.run(CALL, (tx) => {
      drizzle(tx).transaction((inner) => inner.insert(effect).values({ gid: 'g', op: 'action' }).run())
      return drizzle(tx).select().from(effect).all()
    })
    expect(outcome).toEqual({ decision: 'run', answer: '[{"gid":"g","op":"action"}]' })
    expect(readEffects(database, 'g')).toEqual(['action'])
  })
})

describe('the twin that the other tests take for better-sqlite3', () => {
  const openers = { itself: Database, 'its twin': BetterSqlite3Twin } as const

  /** Answers what the barrier can see of a driver: how it tells of its transaction, counts, answers and fails. */
  function readFeatures(Opener: OpenBetterSqlite3 | typeof BetterSqlite3Twin): unknown {
    const folder = mkdtempSync(join(tmpdir(), 'sdk-twin-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const path = join(folder, 'bank.db')
    const database: SqliteDatabase & { close(): unknown } = new Opener(path)
    const failure = (call: () => unknown): unknown => {
      try {
        return call()
      } catch (error: unknown) {
        const { code, errcode } = error as { readonly code?: unknown; readonly errcode?: unknown }
        return [error instanceof TypeError, code, errcode]
      }
    }
    database.exec('PRAGMA foreign_keys = ON; CREATE TABLE cell (id INTEGER PRIMARY KEY, text TEXT)')
    database.exec('CREATE TABLE child (cell INTEGER REFERENCES cell)')
    const insert = database.prepare('INSERT INTO cell VALUES (?, ?)')
    const select = database.prepare('SELECT id, text FROM cell')
    const states = [database.inTransaction]
    database.exec('BEGIN')
    states.push(database.inTransaction)
    const { changes } = insert.run(1, 'a')
    database.exec('COMMIT')
    const timeout = database.prepare('PRAGMA busy_timeout').get()
    const other: SqliteDatabase & { close(): unknown } = new Opener(path, { timeout: 0 })
    other.exec('BEGIN IMMEDIATE')
    database.exec('PRAGMA busy_timeout = 0')
    const look = {
      states,
      isTransaction: database.isTransaction,
      changes,
      timeout,
      row: select.get(),
      rows: select.all(),
      absent: database.prepare('SELECT 1 FROM cell WHERE id = 2').get(),
      busy: failure(() => database.exec('BEGIN IMMEDIATE')),
      syntax: failure(() => database.prepare('SELEC 1')),
      allOfWriter: failure(() => insert.all(1, 'a')),
      getOfWriter: failure(() => insert.get(1, 'a')),
    }
    other.exec('ROLLBACK')
    other.close()
    const twice = failure(() => insert.run(1, 'a'))
    const orphan = failure(() => database.exec('INSERT INTO child VALUES (7)'))
    database.close()
    return { ...look, twice, orphan }
  }

  it('The twin looks to the barrier as the real better-sqlite3 does', () => {
    expect(readFeatures(openers['its twin'])).toEqual(readFeatures(openers.itself))
  })
})
