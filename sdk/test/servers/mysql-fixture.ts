import {
  createPool,
  type Pool,
  type PoolConnection,
  type PoolOptions,
  type RowDataPacket,
} from 'mysql2/promise'
import { buildLocalCall } from '../../src/barrier/message-barrier.ts'
import { migrateBarrier, mysqlBarrier, purgeBarrier } from '../../src/barrier/mysql.ts'
import type { BarrierCall, JsonValue } from '../../src/index.ts'
import { answerBy, type SuiteEffect, thrownBy } from '../barrier/barrier-fixture.ts'
import type { MessageFixture } from '../barrier/message-suite.ts'
import { opsByGid } from '../barrier/ops-by-gid.ts'
import { purging, suiteClock } from '../barrier/suite-clock.ts'

const CONNECTIONS = 48

/** This is a database of its own on a shared server, with the barrier's table and one for effects. */
export async function openMysqlDatabase(url: string, options: PoolOptions = {}): Promise<Pool> {
  const database = `sdk_${crypto.randomUUID().slice(0, 8)}`
  const administrator = createPool({ uri: url, connectionLimit: 1 })
  // A collation that holds a for A and for á, as most have: the barrier's table must not care.
  await administrator.query(`CREATE DATABASE ${database} CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci`)
  await administrator.end()
  const pool = createPool({ uri: `${url}/${database}`, connectionLimit: CONNECTIONS, ...options })
  await migrateBarrier(pool)
  await pool.query(
    'CREATE TABLE effect (number BIGINT AUTO_INCREMENT PRIMARY KEY, gid VARBINARY(128), op VARCHAR(16), KEY (gid))',
  )
  return pool
}

export async function dropMysqlDatabase(pool: Pool): Promise<void> {
  const [rows] = await pool.query<RowDataPacket[]>('SELECT DATABASE() AS name')
  await pool.query(`DROP DATABASE ${rows[0]?.name}`)
  await pool.end()
}

export async function actOnMysql(
  tx: Pick<PoolConnection, 'execute'>,
  call: BarrierCall,
  effect: SuiteEffect,
  original?: JsonValue,
) {
  await tx.execute('INSERT INTO effect (gid, op) VALUES (?, ?)', [Buffer.from(call.gid), call.op])
  const error = thrownBy(effect)
  if (error !== undefined) throw error
  return answerBy(effect, original)
}

export async function mysqlEffects(pool: Pool, gid: string): Promise<string[]> {
  const sql = 'SELECT op FROM effect WHERE gid = ? ORDER BY number'
  const [rows] = await pool.query<RowDataPacket[]>(sql, [Buffer.from(gid)])
  return rows.map(({ op }) => String(op))
}

export async function mysqlEffectsOfEach(pool: Pool, gids: readonly string[]): Promise<string[][]> {
  const sql = 'SELECT gid, op FROM effect WHERE gid IN (?) ORDER BY number'
  const [rows] = await pool.query<(RowDataPacket & { gid: Buffer; op: string })[]>(sql, [
    gids.map((gid) => Buffer.from(gid)),
  ])
  return opsByGid(gids, rows)
}

export async function countMysqlRows(pool: Pool, gid: string): Promise<number> {
  const sql = 'SELECT count(*) AS number FROM counterstep_barrier WHERE gid = ?'
  const [rows] = await pool.query<RowDataPacket[]>(sql, [Buffer.from(gid)])
  return Number(rows[0]?.number)
}

/** `options` are those of the pool that the barrier gets; the fixture itself looks through a plain one. */
export async function openMysqlFixture(url: string, options: PoolOptions = {}): Promise<MessageFixture> {
  const pool = await openMysqlDatabase(url)
  const [rows] = await pool.query<RowDataPacket[]>('SELECT DATABASE() AS name')
  const barrierPool = createPool({ uri: `${url}/${rows[0]?.name}`, connectionLimit: CONNECTIONS, ...options })
  const barrier = mysqlBarrier(barrierPool, suiteClock)
  return {
    run: (call, effect) => barrier.run(call, (tx, original) => actOnMysql(tx, call, effect, original)),
    runLosingCommit: (call, effect, when) =>
      mysqlBarrier(losingCommit(barrierPool, when)).run(call, (tx, original) =>
        actOnMysql(tx, call, effect, original),
      ),
    queryPrepared: barrier.queryPrepared,
    runHeld: (gid, gate) =>
      barrier.run(buildLocalCall(gid), async (tx) => {
        await actOnMysql(tx, buildLocalCall(gid), { does: 'succeed' })
        await gate()
      }),
    effects: (gid) => mysqlEffects(pool, gid),
    effectsOfEach: (gids) => mysqlEffectsOfEach(pool, gids),
    rows: (gid) => countMysqlRows(pool, gid),
    rollsBack: true,
    purge: async (before) => {
      await purgeBarrier(pool, purging(before))
    },
    deadlocks: () => countDeadlocks(pool),
    close: async () => {
      await barrierPool.end()
      await dropMysqlDatabase(pool)
    },
  }
}

/** A pool whose connections break at COMMIT: really, so that the server sees them go. */
export function losingCommit(pool: Pool, when: 'before' | 'after'): Pick<Pool, 'getConnection'> {
  return {
    getConnection: async () => {
      const connection = await pool.getConnection()
      const query = connection.query.bind(connection)
      connection.query = (async (statement: { readonly sql: string }) => {
        if (statement.sql !== 'COMMIT') return query(statement)
        if (when === 'after') await query(statement)
        connection.destroy()
        throw Object.assign(new Error('Connection lost'), { code: 'PROTOCOL_CONNECTION_LOST', fatal: true })
      }) as typeof connection.query
      return connection
    },
  }
}

async function countDeadlocks(pool: Pool): Promise<number> {
  const [status] = await pool.query<RowDataPacket[]>("SHOW GLOBAL STATUS LIKE 'Innodb_deadlocks'")
  if (status[0] !== undefined) return Number(status[0].Value)
  const sql = "SELECT `COUNT` AS number FROM information_schema.innodb_metrics WHERE name = 'lock_deadlocks'"
  const [metrics] = await pool.query<RowDataPacket[]>(sql)
  return Number(metrics[0]?.number)
}

/** A pool whose connections tell of each statement before they send it, and wait for what that takes. */
export function beforeEachStatement(
  pool: Pool,
  before: (sql: string, connection: PoolConnection) => unknown,
): Pick<Pool, 'getConnection'> {
  return {
    getConnection: async () =>
      new Proxy(await pool.getConnection(), {
        get: (target, key) => {
          const value: unknown = Reflect.get(target, key)
          if (typeof value !== 'function') return value
          if (key !== 'query') return value.bind(target)
          return async (statement: { readonly sql: string }, ...values: unknown[]) => {
            await before(statement.sql, target)
            return value.call(target, statement, ...values)
          }
        },
      }),
  }
}

export function readWord(sql: string): string {
  return sql.split(' ')[0] ?? ''
}

/**
 * Tells whether a transaction waits for a lock by a statement that names the gid. InnoDB keeps what it tells while it
 * is asked again within 100 ms.
 */
export async function isWaitingFor(pool: Pool, gid: string): Promise<boolean> {
  const sql =
    "SELECT trx_id FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT' AND trx_query LIKE ?"
  const [rows] = await pool.query<RowDataPacket[]>(sql, [`%${Buffer.from(gid).toString('hex')}%`])
  return rows.length > 0
}
