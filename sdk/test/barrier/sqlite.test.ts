import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import {
  checkBarrier,
  migrateBarrier,
  purgeBarrier,
  type SqliteDatabase,
  sqliteBarrier,
} from '../../src/barrier/sqlite.ts'
import { branchHandler } from '../../src/fastify.ts'
import type { GroupCall } from '../../src/grouped/group-barrier.ts'
import { groupedBranch } from '../../src/grouped/grouped.ts'
import { sqliteGroupBarrier } from '../../src/grouped/sqlite.ts'
import { type BarrierCall, BranchFailure, BranchOngoing, withBarrier } from '../../src/index.ts'
import { barrierSuite } from './barrier-suite.ts'
import { BetterSqlite3Twin } from './better-sqlite3-twin.ts'
import { messageSuite } from './message-suite.ts'
import { act, count, opened, readEffects, toFixture } from './sqlite-fixture.ts'

const DATABASES: readonly (readonly [string, () => SqliteDatabase])[] = [
  ['better-sqlite3', () => new BetterSqlite3Twin(':memory:')],
  ['node:sqlite', () => new DatabaseSync(':memory:')],
]

for (const [name, open] of DATABASES) {
  barrierSuite({ name, open: async () => toFixture(opened(open)), width: 64 })
  messageSuite({ name, open: async () => toFixture(opened(open)), width: 64 })

  describe(`the SQLite barrier with ${name}`, () => {
    const CALL = { gid: 'g', branchId: '01', op: 'action' } as const

    it('A query-back fails where the row of the message was committed without its effect', async () => {
      const database = opened(open)
      const barrier = sqliteBarrier(database)
      database.exec(`INSERT INTO counterstep_barrier (gid, branch_id, op, barrier_id, reason, created_at)
        VALUES ('half', '00', 'msg', '01', 'msg', 0)`)
      await expect(barrier.queryPrepared('half')).rejects.toMatchObject({ code: 'BARRIER_TRANSACTION_LOST' })
    })

    it('An effect that returns a promise is refused, and what it wrote is rolled back', async () => {
      const database = opened(open)
      const barrier = sqliteBarrier(database)
      const effect = (tx: SqliteDatabase) => Promise.resolve(act(tx, CALL, { does: 'succeed' }))
      await expect(barrier.run(CALL, effect)).rejects.toMatchObject({ code: 'BARRIER_EFFECT_ASYNC' })
      expect(readEffects(database, 'g')).toEqual([])
      expect(count(database)).toBe(0)
    })

    it('A query of a query builder, which only a later await would run, is refused', async () => {
      const database = opened(open)
      let ran = false
      const effect = (tx: SqliteDatabase) => {
        act(tx, CALL, { does: 'succeed' })
        return {
          // biome-ignore lint/suspicious/noThenProperty: It is what is tested.
          then: () => {
            ran = true
          },
        }
      }
      const running = sqliteBarrier(database).run(CALL, effect)
      await expect(running).rejects.toMatchObject({ code: 'BARRIER_EFFECT_ASYNC' })
      expect([ran, readEffects(database, 'g'), count(database)]).toEqual([false, [], 0])
    })

    it('Neither the handle nor a statement of it can write when the effect is over', async () => {
      const database = opened(open)
      const kept: (() => unknown)[] = []
      await sqliteBarrier(database).run(CALL, (tx) => {
        const statement = tx.prepare("INSERT INTO effect (gid, op) VALUES ('late', 'late')")
        kept.push(
          () => statement.run(),
          () => tx.exec("INSERT INTO effect (gid, op) VALUES ('late', 'late')"),
          () => tx.prepare('SELECT 1'),
        )
        act(tx, CALL, { does: 'succeed' })
      })
      for (const late of kept) expect(late).toThrow(/the transaction is over/)
      expect([readEffects(database, 'g'), readEffects(database, 'late')]).toEqual([['action'], []])
    })

    it('An async handler is refused when it is made', () => {
      expect(() => branchHandler(sqliteBarrier(opened(open)), async () => 'late')).toThrow(/synchronous/)
    })

    it('A call within a transaction of its caller is a savepoint, and the caller decides about all of it', () => {
      const database = opened(open)
      const barrier = sqliteBarrier(database)
      database.exec('BEGIN')
      expect(() => barrier.runSync(CALL, (tx) => act(tx, CALL, { does: 'fail' }))).toThrow('said no')
      barrier.runSync({ ...CALL, gid: 'h' }, (tx) => act(tx, { ...CALL, gid: 'h' }, { does: 'succeed' }))
      expect([readEffects(database, 'g'), readEffects(database, 'h')]).toEqual([[], ['action']])
      database.exec('ROLLBACK')
      expect([readEffects(database, 'h'), count(database)]).toEqual([[], 0])
    })

    it('A call waits for the end of a foreign transaction, which could take the effect away again', async () => {
      const database = opened(open)
      const barrier = sqliteBarrier(database)
      database.exec('BEGIN')
      const running = barrier.run(CALL, (tx) => act(tx, CALL, { does: 'succeed' }))
      expect(readEffects(database, 'g')).toEqual([])
      database.exec('ROLLBACK')
      expect((await running).decision).toBe('run')
      expect([readEffects(database, 'g'), count(database)]).toEqual([['action'], 1])
    })

    it('A call is refused when a foreign transaction does not end', async () => {
      const database = opened(open)
      database.exec('BEGIN')
      const running = sqliteBarrier(database).run(CALL, (tx) => act(tx, CALL, { does: 'succeed' }))
      await expect(running).rejects.toMatchObject({ code: 'BARRIER_CONTENDED', meaning: 'unavailable' })
      expect([readEffects(database, 'g'), count(database)]).toEqual([[], 0])
      database.exec('ROLLBACK')
    }, 20_000)

    it('A row that was committed without its effect is not replayed as a success', async () => {
      const database = opened(open)
      const barrier = sqliteBarrier(database)
      const failing = barrier.run(CALL, (tx) => {
        tx.exec('COMMIT')
        return act(tx, CALL, { does: 'fail' })
      })
      await expect(failing).rejects.toMatchObject({ code: 'BARRIER_TRANSACTION_LOST' })
      const again = barrier.run(CALL, (tx) => act(tx, CALL, { does: 'succeed' }))
      await expect(again).rejects.toMatchObject({ code: 'BARRIER_TRANSACTION_LOST' })
    })

    for (const [answer, thrown] of [
      ['failure', new BranchFailure('said no')],
      ['not yet', new BranchOngoing()],
    ] as const) {
      it(`An effect that a handler committed itself is not told as rolled back after a ${answer}`, async () => {
        const database = opened(open)
        const running = sqliteBarrier(database).run(CALL, (tx) => {
          act(tx, CALL, { does: 'succeed' })
          tx.exec('COMMIT')
          throw thrown
        })
        await expect(running).rejects.toMatchObject({ code: 'BARRIER_TRANSACTION_LOST' })
        expect(readEffects(database, 'g')).toEqual(['action'])
      })
    }

    it('A row that was committed without its effect is not undone, alone or in a group', async () => {
      for (const [origin, undo] of [
        ['action', 'compensate'],
        ['try', 'cancel'],
      ] as const) {
        const database = opened(open)
        const barrier = sqliteBarrier(database)
        const [first, back] = [
          { ...CALL, op: origin },
          { ...CALL, op: undo },
        ]
        const failing = barrier.run(first, (tx) => {
          tx.exec('COMMIT')
          throw new Error('broken on purpose')
        })
        await expect(failing).rejects.toThrow('broken on purpose')
        const undoing = barrier.run(back, (tx) => act(tx, back, { does: 'succeed' }))
        await expect(undoing).rejects.toMatchObject({ code: 'BARRIER_TRANSACTION_LOST' })
        const grouped = groupedBranch(sqliteGroupBarrier(database), {
          key: () => 'one',
          apply: (tx, calls: readonly GroupCall<BarrierCall>[]) =>
            calls.map(({ entry }) => act(tx, entry, { does: 'succeed' })),
        })
        const other = { ...CALL, gid: 'h' }
        const answers = await Promise.allSettled([
          withBarrier(grouped, back, () => back),
          withBarrier(grouped, other, () => other),
        ])
        expect(answers).toMatchObject([
          { reason: { code: 'BARRIER_TRANSACTION_LOST' } },
          { status: 'fulfilled' },
        ])
        expect([readEffects(database, 'g'), readEffects(database, 'h'), count(database)]).toEqual([
          [],
          ['action'],
          2,
        ])
      }
    })

    it('A call whose row was committed without its effect is refused in a group, and the others are answered', async () => {
      const database = opened(open)
      const barrier = sqliteBarrier(database)
      const failing = barrier.run(CALL, (tx) => {
        tx.exec('COMMIT')
        return act(tx, CALL, { does: 'fail' })
      })
      await expect(failing).rejects.toMatchObject({ code: 'BARRIER_TRANSACTION_LOST' })
      const grouped = groupedBranch(sqliteGroupBarrier(database), {
        key: () => 'one',
        apply: (_tx, calls: readonly GroupCall<string>[]) => calls.map(({ entry }) => entry),
      })
      const answers = await Promise.allSettled([
        withBarrier(grouped, { ...CALL, gid: 'h' }, () => 'first'),
        withBarrier(grouped, CALL, () => 'refused'),
        withBarrier(grouped, { ...CALL, gid: 'i' }, () => 'last'),
      ])
      expect(answers).toMatchObject([
        { value: 'first' },
        { reason: { code: 'BARRIER_TRANSACTION_LOST' } },
        { value: 'last' },
      ])
    })

    it('An undo that had nothing to undo is replayed as a duplicate', async () => {
      const barrier = sqliteBarrier(opened(open))
      const undo = { ...CALL, op: 'compensate' } as const
      expect(await barrier.run(undo, () => 1)).toEqual({ decision: 'null-compensation' })
      expect(await barrier.run(undo, () => 1)).toEqual({ decision: 'duplicate' })
    })

    it('An effect that ends the transaction is noticed', async () => {
      const database = opened(open)
      const ending = sqliteBarrier(database).run(CALL, (tx) => tx.exec('ROLLBACK') && undefined)
      await expect(ending).rejects.toMatchObject({ code: 'BARRIER_TRANSACTION_LOST' })
      expect(count(database)).toBe(0)
    })

    it('Nothing is written by an effect that goes on after an error that has ended the transaction', async () => {
      const database = opened(open)
      database.exec('CREATE TABLE seat (id INTEGER PRIMARY KEY)')
      database.exec('INSERT INTO seat VALUES (1)')
      const running = sqliteBarrier(database).run(CALL, (tx) => {
        const transaction =
          'transaction' in tx ? (tx.transaction as (run: () => void) => () => void) : undefined
        const book = transaction?.call(tx, () => act(tx, CALL, { does: 'succeed' }))
        try {
          tx.exec('INSERT OR ROLLBACK INTO seat VALUES (1)')
        } catch {
          return book === undefined ? act(tx, CALL, { does: 'succeed' }) : book()
        }
        throw new Error('it is not reached')
      })
      await expect(running).rejects.toMatchObject({ code: 'BARRIER_TRANSACTION_LOST' })
      expect([readEffects(database, 'g'), count(database)]).toEqual([[], 0])
    })

    it('A duplicate gets the value of the first call through withBarrier', async () => {
      const barrier = sqliteBarrier(opened(open))
      expect(await withBarrier(barrier, CALL, () => ({ id: 1 }))).toEqual({ id: 1 })
      expect(await withBarrier(barrier, CALL, () => ({ id: 2 }))).toEqual({ id: 1 })
      const undone = { ...CALL, gid: 'undone' }
      expect(await withBarrier(barrier, { ...undone, op: 'compensate' }, () => 1)).toBeUndefined()
      await expect(withBarrier(barrier, undone, () => 1)).rejects.toMatchObject({
        code: 'ALREADY_COMPENSATED',
      })
    })

    it('A purge of the barrier deletes what is older than the retention, at most `limit` rows', async () => {
      const database = opened(open)
      let now = 1_700_000_000_000
      const barrier = sqliteBarrier(database, { now: () => now })
      for (let number = 0; number < 1_203; number++) {
        if (number === 1_200) now += 24 * 3_600_000
        await barrier.run({ ...CALL, gid: `old-${number}` }, () => undefined)
      }
      now += 59 * 24 * 3_600_000 + 1
      expect(purgeBarrier(database, { now: () => now, limit: 700 })).toBe(700)
      expect(purgeBarrier(database, { now: () => now, limit: 700 })).toBe(500)
      expect(purgeBarrier(database, { now: () => now })).toBe(0)
      expect(count(database)).toBe(3)
    })

    it('A second migration of the barrier does no harm, and its check names every fault at once', () => {
      const database = opened(open)
      migrateBarrier(database)
      expect(checkBarrier(database, { businessTable: 'effect' })).toBeUndefined()
      expect(() => checkBarrier(open(), { businessTable: 'account' })).toThrow(
        /run migrateBarrier; .*account/,
      )
      database.exec('CREATE TABLE crooked (gid TEXT PRIMARY KEY)')
      expect(() => checkBarrier(database, { table: 'crooked' })).toThrow(/primary key/)
    })

    it('Wrong settings are refused when the barrier is made', () => {
      const database = opened(open)
      expect(() => sqliteBarrier(database, { table: 'x; DROP TABLE effect' })).toThrow(TypeError)
      expect(() => sqliteBarrier(database, { retentionMs: 3_600_000 })).toThrow(TypeError)
    })
  })
}

for (const [name, open] of [
  ['node:sqlite with returnArrays', () => new DatabaseSync(':memory:', { returnArrays: true })],
  ['node:sqlite with readBigInts', () => new DatabaseSync(':memory:', { readBigInts: true })],
  ['better-sqlite3 with defaultSafeIntegers', () => new BetterSqlite3Twin(':memory:', { readBigInts: true })],
] as const) {
  it(`The barrier reads its rows from ${name}`, async () => {
    const database: SqliteDatabase = open()
    const call = { gid: 'g', branchId: '01', op: 'action' } as const
    migrateBarrier(database)
    expect(checkBarrier(database)).toBeUndefined()
    database.exec('CREATE TABLE crooked (gid TEXT PRIMARY KEY)')
    expect(() => checkBarrier(database, { table: 'crooked' })).toThrow(/primary key of crooked is \(gid\)/)
    const barrier = sqliteBarrier(database)
    expect(await barrier.run(call, () => 7)).toEqual({ decision: 'run', answer: '7' })
    expect(await barrier.run(call, () => 8)).toEqual({ decision: 'duplicate', answer: '7' })
    expect((await barrier.run({ ...call, op: 'compensate' }, () => 1)).decision).toBe('run')
    expect((await barrier.run(call, () => 8)).decision).toBe('already-compensated')
  })
}

it('A database that cannot be asked about its transaction is refused', () => {
  const database = { exec: () => undefined, prepare: () => new DatabaseSync(':memory:').prepare('SELECT 1') }
  expect(() => sqliteBarrier(database)).toThrow(/better-sqlite3 or node:sqlite/)
})
