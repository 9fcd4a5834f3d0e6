import { describeOn } from '@counterstep/test-servers/vitest'
import { sql } from 'drizzle-orm'
import { drizzle as drizzleMysql } from 'drizzle-orm/mysql2'
import { drizzle as drizzlePostgres } from 'drizzle-orm/node-postgres'
import knex, { type Knex } from 'knex'
import { Kysely, sql as kyselySql, MysqlDialect, PostgresDialect } from 'kysely'
import type { PoolConnection as CorePoolConnection } from 'mysql2'
import type { Pool as MysqlPool, RowDataPacket } from 'mysql2/promise'
import type { Pool as PostgresPool } from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { mysqlBarrier, mysqlBarrierIn } from '../../src/barrier/mysql.ts'
import { postgresBarrier, postgresBarrierIn } from '../../src/barrier/postgres.ts'
import { type BarrierCall, BranchFailure, withBarrier } from '../../src/index.ts'
import { countMysqlRows, dropMysqlDatabase, mysqlEffects, openMysqlDatabase } from './mysql-fixture.ts'
import {
  countPostgresRows,
  dropPostgresDatabase,
  openPostgresDatabase,
  postgresEffects,
} from './postgres-fixture.ts'

let gids = 0
const newCall = (): BarrierCall => ({ gid: `builder-${++gids}`, branchId: '01', op: 'action' })
const REFUSED = 'BARRIER_STATEMENT_REFUSED'
/** Returns the code of the error, or of its cause if a query builder has wrapped it. */
const findCode = (error: unknown): unknown => {
  const { code, cause } = error as { readonly code?: unknown; readonly cause?: unknown }
  return code ?? (cause as { readonly code?: unknown } | undefined)?.code
}
const no = (): never => {
  throw new BranchFailure('said no')
}

for (const server of ['mariadb', 'mysql'] as const) {
  describeOn(server, 'query builders with the MySQL barrier', (url) => {
    let pool: MysqlPool
    let builder: Knex
    beforeAll(async () => {
      pool = await openMysqlDatabase(url)
      const [rows] = await pool.query<RowDataPacket[]>('SELECT DATABASE() AS name')
      builder = knex({ client: 'mysql2', connection: `${url}/${rows[0]?.name}` })
    })
    afterAll(async () => {
      await builder.destroy()
      await dropMysqlDatabase(pool)
    })
    const state = async ({ gid }: BarrierCall) => [
      await countMysqlRows(pool, gid),
      await mysqlEffects(pool, gid),
    ]

    it("A Knex transaction of the service's own holds row and effect in MySQL", async () => {
      const call = newCall()
      const served = (business: () => void) =>
        builder.transaction(async (transaction) => {
          const connection = await transaction.client.acquireConnection()
          return withBarrier(mysqlBarrierIn(connection.promise()), call, async () => {
            await transaction('effect').insert({ gid: call.gid, op: call.op })
            business()
            return 'done'
          })
        })
      await expect(served(no)).rejects.toThrow('said no')
      expect(await state(call)).toEqual([0, []])
      expect([await served(() => undefined), await served(no)]).toEqual(['done', 'done'])
      expect(await state(call)).toEqual([1, ['action']])
    })

    it("Knex runs its queries on the barrier's connection", async () => {
      const call = newCall()
      const barrier = mysqlBarrier(pool)
      const served = (business: () => void) =>
        barrier.run(call, async (tx) => {
          await builder('effect').connection(tx.connection).insert({ gid: call.gid, op: call.op })
          business()
        })
      await expect(served(no)).rejects.toThrow('said no')
      expect(await state(call)).toEqual([0, []])
      expect((await served(() => undefined)).decision).toBe('run')
      expect(await state(call)).toEqual([1, ['action']])
    })

    it("Drizzle runs its queries on the barrier's connection", async () => {
      const call = newCall()
      const barrier = mysqlBarrier(pool)
      const served = (business: () => void) =>
        barrier.run(call, async (tx) => {
          await drizzleMysql(tx).execute(sql`INSERT INTO effect (gid, op) VALUES (${call.gid}, ${call.op})`)
          business()
        })
      await expect(served(no)).rejects.toThrow('said no')
      expect(await state(call)).toEqual([0, []])
      expect((await served(() => undefined)).decision).toBe('run')
      expect(await state(call)).toEqual([1, ['action']])
    })

    it("Kysely, which releases its connection after each query, gives the barrier's back to no pool", async () => {
      let released = 0
      pool.on('release', () => released++)
      const call = newCall()
      const outcome = await mysqlBarrier(pool).run(call, async (tx) => {
        const end = () => undefined
        const lent = {
          getConnection: (give: (error: null, own: object) => void) => give(null, tx.connection),
          end,
        }
        const builder = new Kysely({ dialect: new MysqlDialect({ pool: lent as never }) })
        const before = released
        for (const op of ['a', 'b']) {
          await kyselySql`INSERT INTO effect (gid, op) VALUES (${call.gid}, ${op})`.execute(builder)
        }
        tx.release()
        const core = tx.connection as unknown as CorePoolConnection
        core[Symbol.dispose]()
        await tx[Symbol.asyncDispose]()
        // The pool for callbacks has its own way back.
        pool.pool.releaseConnection(core)
        expect(() => tx.end()).toThrow('belongs to the barrier')
        return released - before
      })
      expect(outcome).toMatchObject({ decision: 'run', answer: '0' })
      expect(await state(call)).toEqual([1, ['a', 'b']])
    })

    it("A transaction of a query builder's own on the barrier's connection is refused, and the effect goes on in the barrier's", async () => {
      const call = newCall()
      const outcome = await mysqlBarrier(pool).run(call, async (tx) => {
        const { connection } = tx
        const ways = [
          () => drizzleMysql(tx).transaction((inner) => inner.execute(sql`SELECT 1`)),
          () => builder.transaction(async () => 1, { connection } as never),
        ]
        for (const way of ways) expect(findCode(await way().catch((error: unknown) => error))).toBe(REFUSED)
        await drizzleMysql(tx).execute(sql`INSERT INTO effect (gid, op) VALUES (${call.gid}, ${call.op})`)
      })
      expect(outcome.decision).toBe('run')
      expect(await state(call)).toEqual([1, ['action']])
    })

    it('A deadlock that Drizzle has wrapped is still one, and everything runs again', async () => {
      const call = newCall()
      let runs = 0
      const outcome = await mysqlBarrier(pool).run(call, async (tx) => {
        const database = drizzleMysql(tx)
        await database.execute(sql`INSERT INTO effect (gid, op) VALUES (${call.gid}, ${call.op})`)
        if (++runs > 1) return
        await database.execute(
          sql`SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO = 1213, MESSAGE_TEXT = 'Deadlock found'`,
        )
      })
      expect([outcome.decision, runs]).toEqual(['run', 2])
      expect(await state(call)).toEqual([1, ['action']])
    })

    it("A Drizzle transaction on the service's own connection holds row and effect", async () => {
      const call = newCall()
      const connection = await pool.getConnection()
      const served = (business: () => void) =>
        drizzleMysql(connection).transaction((tx) =>
          withBarrier(mysqlBarrierIn(connection), call, async () => {
            await tx.execute(sql`INSERT INTO effect (gid, op) VALUES (${call.gid}, ${call.op})`)
            business()
            return 'done'
          }),
        )
      await expect(served(no)).rejects.toThrow('said no')
      expect(await state(call)).toEqual([0, []])
      expect([await served(() => undefined), await served(no)]).toEqual(['done', 'done'])
      expect(await state(call)).toEqual([1, ['action']])
      connection.release()
    })
  })
}

describeOn('postgres', 'query builders with the PostgreSQL barrier', (url) => {
  let pool: PostgresPool
  let builder: Knex
  beforeAll(async () => {
    pool = await openPostgresDatabase(url)
    builder = knex({ client: 'pg', connection: String(pool.options.connectionString) })
  })
  afterAll(async () => {
    await builder.destroy()
    await dropPostgresDatabase(url, pool)
  })
  const state = async ({ gid }: BarrierCall) => [
    await countPostgresRows(pool, gid),
    await postgresEffects(pool, gid),
  ]

  it("A Knex transaction of the service's own holds row and effect in PostgreSQL", async () => {
    const call = newCall()
    const served = (business: () => void) =>
      builder.transaction(async (transaction) => {
        const client = await transaction.client.acquireConnection()
        return withBarrier(postgresBarrierIn(client), call, async () => {
          await transaction('effect').insert({ gid: call.gid, op: call.op })
          business()
          return 'done'
        })
      })
    await expect(served(no)).rejects.toThrow('said no')
    expect(await state(call)).toEqual([0, []])
    expect([await served(() => undefined), await served(no)]).toEqual(['done', 'done'])
    expect(await state(call)).toEqual([1, ['action']])
  })

  it("Drizzle runs its queries on the barrier's client", async () => {
    const call = newCall()
    const served = (business: () => void) =>
      postgresBarrier(pool).run(call, async (tx) => {
        await drizzlePostgres(tx).execute(sql`INSERT INTO effect (gid, op) VALUES (${call.gid}, ${call.op})`)
        business()
      })
    await expect(served(no)).rejects.toThrow('said no')
    expect(await state(call)).toEqual([0, []])
    expect((await served(() => undefined)).decision).toBe('run')
    expect(await state(call)).toEqual([1, ['action']])
  })

  it("Kysely, which releases its client after each query, gives the barrier's back to no pool", async () => {
    let released = 0
    pool.on('release', () => released++)
    const call = newCall()
    const outcome = await postgresBarrier(pool).run(call, async (tx) => {
      const lent = { connect: async () => tx, end: async () => undefined }
      const builder = new Kysely({ dialect: new PostgresDialect({ pool: lent as never }) })
      for (const op of ['a', 'b']) {
        await kyselySql`INSERT INTO effect (gid, op) VALUES (${call.gid}, ${op})`.execute(builder)
      }
      tx.release()
      return released
    })
    expect(outcome).toMatchObject({ decision: 'run', answer: '0' })
    expect(released).toBe(1)
    expect(await state(call)).toEqual([1, ['a', 'b']])
  })

  it("A transaction of a query builder's own on the barrier's client is refused, and the effect goes on in the barrier's", async () => {
    const call = newCall()
    const outcome = await postgresBarrier(pool).run(call, async (tx) => {
      const lent = { connect: async () => tx, end: async () => undefined }
      const kysely = new Kysely({ dialect: new PostgresDialect({ pool: lent as never }) })
      const ways = [
        () => drizzlePostgres(tx).transaction((inner) => inner.execute(sql`SELECT 1 / 0`)),
        () => kysely.transaction().execute((inner) => kyselySql`SELECT 1 / 0`.execute(inner)),
        () => builder.transaction(async () => 1, { connection: tx } as never),
      ]
      for (const way of ways) expect(findCode(await way().catch((error: unknown) => error))).toBe(REFUSED)
      await drizzlePostgres(tx).execute(sql`INSERT INTO effect (gid, op) VALUES (${call.gid}, ${call.op})`)
    })
    expect(outcome.decision).toBe('run')
    expect(await state(call)).toEqual([1, ['action']])
  })

  it("A transaction of Drizzle within one of the service's own is a savepoint, and its error may be swallowed", async () => {
    const call = newCall()
    const client = await pool.connect()
    const outcome = await drizzlePostgres(client).transaction((tx) =>
      postgresBarrierIn(client).run(call, async () => {
        await tx.transaction((inner) => inner.execute(sql`SELECT 1 / 0`)).catch((error: unknown) => error)
        await tx.execute(sql`INSERT INTO effect (gid, op) VALUES (${call.gid}, ${call.op})`)
      }),
    )
    client.release()
    expect(outcome.decision).toBe('run')
    expect(await state(call)).toEqual([1, ['action']])
  })

  it("A Drizzle transaction on the service's own client holds row and effect", async () => {
    const call = newCall()
    const client = await pool.connect()
    const served = (business: () => void) =>
      drizzlePostgres(client).transaction((tx) =>
        withBarrier(postgresBarrierIn(client), call, async () => {
          await tx.execute(sql`INSERT INTO effect (gid, op) VALUES (${call.gid}, ${call.op})`)
          business()
          return 'done'
        }),
      )
    await expect(served(no)).rejects.toThrow('said no')
    expect(await state(call)).toEqual([0, []])
    expect([await served(() => undefined), await served(no)]).toEqual(['done', 'done'])
    client.release()
  })
})
