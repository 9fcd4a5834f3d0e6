import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Worker } from 'node:worker_threads'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { checkBarrier, migrateBarrier } from '../../src/barrier/sqlite.ts'

const GIDS = 1_000
const INSTANCES = 8

describe('the SQLite barrier on a file that two threads write', () => {
  const folders: string[] = []
  afterEach(() => {
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true })
  })

  for (const [first, second] of [
    ['action', 'action'],
    ['action', 'compensate'],
  ] as const) {
    it(`Each of ${GIDS} pairs of ${first} and ${second} has one effect or one order, and no lock is seen`, async () => {
      const folder = mkdtempSync(join(tmpdir(), 'sdk-sqlite-'))
      folders.push(folder)
      const path = join(folder, 'bank.db')
      const database = new DatabaseSync(path)
      database.exec(
        'PRAGMA journal_mode = WAL; CREATE TABLE effect (number INTEGER PRIMARY KEY, gid TEXT, op TEXT)',
      )
      migrateBarrier(database)
      const callers = [first, second].map(
        (op) =>
          new Worker(new URL('./sqlite-caller.ts', import.meta.url), {
            workerData: { path, op, gids: GIDS },
          }),
      )
      const decisions = (await Promise.all(callers.map((caller) => once(caller, 'message')))).flatMap(
        ([all]) => all,
      )
      expect(decisions).toHaveLength(2 * GIDS)
      const orders = database
        .prepare('SELECT group_concat(op) AS ops FROM effect GROUP BY gid ORDER BY number')
        .all()
      const allowed = first === second ? ['action'] : ['action,compensate']
      for (const { ops } of orders) expect(allowed).toContain(ops)
      const counts = decisions.filter((decision: string) => decision === 'run').length
      expect(counts).toBe(first === second ? GIDS : 2 * orders.length)
      database.close()
    }, 60_000)
  }

  it('hands an undo the answer of an action whose process was killed, also after an undo that was killed', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sdk-sqlite-'))
    folders.push(folder)
    const path = join(folder, 'bank.db')
    const database = new DatabaseSync(path)
    database.exec(
      'PRAGMA journal_mode = WAL; CREATE TABLE effect (number INTEGER PRIMARY KEY, gid TEXT, op TEXT)',
    )
    migrateBarrier(database)
    const caller = fileURLToPath(new URL('./sqlite-killed-caller.ts', import.meta.url))
    const call = (...words: string[]) => promisify(execFile)(process.execPath, [caller, path, ...words])
    const kill = async (...words: string[]) =>
      expect(call(...words)).rejects.toMatchObject({ signal: 'SIGKILL' })
    const tell = async (...words: string[]) => JSON.parse((await call(...words)).stdout)

    await kill('held', 'action', 'after the COMMIT')
    await kill('held', 'compensate', 'in the effect')
    const undone = { decision: 'run', answer: '{"holdId":2,"original":{"holdId":1}}' }
    expect(await tell('held', 'compensate', 'not')).toEqual(undone)
    await kill('never', 'action', 'in the effect')
    expect(await tell('never', 'compensate', 'not')).toEqual({ decision: 'null-compensation' })
    expect(database.prepare('SELECT gid, op FROM effect').all()).toEqual([
      { gid: 'held', op: 'action' },
      { gid: 'held', op: 'compensate' },
    ])
    database.close()
  }, 60_000)

  for (const [driver, timeoutMs] of [
    ['node:sqlite', 0],
    ['better-sqlite3', 5_000],
  ] as const) {
    it(`The table of the barrier is migrated by ${INSTANCES} instances of a service with ${driver} that start at once`, async () => {
      const folder = mkdtempSync(join(tmpdir(), 'sdk-sqlite-'))
      folders.push(folder)
      const tables = Array.from({ length: 25 }, (_, number) => `barrier_${number}`)
      const instances = Array.from(
        { length: INSTANCES },
        () =>
          new Worker(new URL('./sqlite-migrator.ts', import.meta.url), {
            workerData: { path: join(folder, 'bank.db'), driver, tables },
          }),
      )
      const left = await Promise.all(instances.map((instance) => once(instance, 'message')))
      // The migration has restored the setting of the connection that it changed for its own time.
      expect(left.flat()).toEqual(instances.map(() => timeoutMs))
    }, 60_000)
  }
})

describe('checkBarrier on a file', () => {
  for (const { mode, synchronous, isSafe } of [
    { mode: 'WAL', synchronous: 'OFF', isSafe: false },
    { mode: 'WAL', synchronous: 'NORMAL', isSafe: false },
    { mode: 'WAL', synchronous: 'FULL', isSafe: true },
    { mode: 'WAL', synchronous: 'EXTRA', isSafe: true },
    { mode: 'DELETE', synchronous: 'FULL', isSafe: false },
    { mode: 'DELETE', synchronous: 'EXTRA', isSafe: true },
    { mode: 'TRUNCATE', synchronous: 'NORMAL', isSafe: false },
    { mode: 'TRUNCATE', synchronous: 'FULL', isSafe: true },
    { mode: 'PERSIST', synchronous: 'FULL', isSafe: true },
    { mode: 'MEMORY', synchronous: 'EXTRA', isSafe: false },
  ]) {
    it(`The check ${isSafe ? 'takes' : 'refuses'} the journal mode ${mode} with synchronous ${synchronous}`, () => {
      const folder = mkdtempSync(join(tmpdir(), 'sdk-sqlite-'))
      const database = new DatabaseSync(join(folder, 'bank.db'))
      onTestFinished(() => {
        database.close()
        rmSync(folder, { recursive: true })
      })
      migrateBarrier(database)
      database.exec(`PRAGMA journal_mode = ${mode}; PRAGMA synchronous = ${synchronous}`)
      if (isSafe) expect(checkBarrier(database)).toBeUndefined()
      else expect(() => checkBarrier(database)).toThrow(/gone after a power cut/)
    })
  }
})

describe('checkBarrier with attached files', () => {
  const SAFE = 'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL'
  const openBoth = (mode: string, mainPath?: string) => {
    const folder = mkdtempSync(join(tmpdir(), 'sdk-sqlite-'))
    const database = new DatabaseSync(mainPath ?? join(folder, 'bank.db'))
    onTestFinished(() => {
      database.close()
      rmSync(folder, { recursive: true })
    })
    database.exec(`ATTACH '${join(folder, 'other.db')}' AS other`)
    for (const schema of mainPath === undefined ? ['main', 'other'] : ['other'])
      database.exec(`PRAGMA ${schema}.journal_mode = ${mode}; PRAGMA ${schema}.synchronous = EXTRA`)
    return database
  }

  for (const { mode, isSafe } of [
    { mode: 'WAL', isSafe: false },
    { mode: 'MEMORY', isSafe: false },
    { mode: 'DELETE', isSafe: true },
    { mode: 'TRUNCATE', isSafe: true },
    { mode: 'PERSIST', isSafe: true },
  ]) {
    it(`The check ${isSafe ? 'takes' : 'refuses'} a barrier and a business table in two files with the journal mode ${mode}`, () => {
      const database = openBoth(mode)
      migrateBarrier(database)
      migrateBarrier(database, { table: 'other.rows' })
      database.exec('CREATE TABLE account (id TEXT); CREATE TABLE other.booking (id TEXT)')
      for (const options of [
        { businessTable: 'other.booking' },
        { businessTable: 'booking' },
        { table: 'other.rows', businessTable: 'account' },
      ]) {
        if (isSafe) expect(checkBarrier(database, options)).toBeUndefined()
        else expect(() => checkBarrier(database, options)).toThrow(/in two databases/)
      }
    })
  }

  it('The check takes a barrier and a business table that are in the same attached file', () => {
    const database = openBoth('WAL')
    migrateBarrier(database, { table: 'other.rows' })
    database.exec('CREATE TABLE other.booking (id TEXT)')
    expect(checkBarrier(database, { table: 'other.rows', businessTable: 'booking' })).toBeUndefined()
  })

  it('The check refuses two files where the main database has none', () => {
    const database = openBoth('DELETE', ':memory:')
    migrateBarrier(database)
    database.exec('CREATE TABLE other.booking (id TEXT)')
    expect(() => checkBarrier(database, { businessTable: 'booking' })).toThrow(/in two databases/)
  })

  it('The check looks at the settings of the file that the barrier is in', () => {
    const database = openBoth('WAL')
    migrateBarrier(database, { table: 'other.rows' })
    database.exec(`${SAFE}; PRAGMA other.synchronous = NORMAL`)
    expect(() => checkBarrier(database, { table: 'other.rows' })).toThrow(/other is wal and synchronous is 1/)
    database.exec('PRAGMA other.synchronous = FULL; PRAGMA main.synchronous = OFF')
    expect(checkBarrier(database, { table: 'other.rows' })).toBeUndefined()
  })

  it('The check looks for a business table in the schema that its name has', () => {
    const database = openBoth('WAL')
    migrateBarrier(database)
    database.exec('CREATE TABLE account (id TEXT)')
    expect(() => checkBarrier(database, { businessTable: 'other.account' })).toThrow(/no table other.account/)
  })

  it('The check refuses TEMP tables', () => {
    const database = openBoth('WAL')
    migrateBarrier(database)
    database.exec('CREATE TABLE account (id TEXT); CREATE TEMP TABLE account (id TEXT)')
    expect(() => checkBarrier(database, { businessTable: 'account' })).toThrow(/TEMP table/)
    expect(checkBarrier(database, { businessTable: 'main.account' })).toBeUndefined()
    migrateBarrier(database, { table: 'temp.rows' })
    expect(() => checkBarrier(database, { table: 'temp.rows' })).toThrow(/TEMP table/)
  })
})
