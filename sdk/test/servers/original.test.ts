import { EventEmitter, once } from 'node:events'
import { describeOn } from '@counterstep/test-servers/vitest'
import { Redis } from 'ioredis'
import type { Pool as MysqlPool } from 'mysql2/promise'
import type { PoolClient, Pool as PostgresPool } from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { mysqlBarrier, mysqlBarrierIn } from '../../src/barrier/mysql.ts'
import { postgresBarrier, postgresBarrierIn } from '../../src/barrier/postgres.ts'
import { type RedisEffects, redisBarrier } from '../../src/barrier/redis.ts'
import {
  type Barrier,
  type BarrierCall,
  type JsonValue,
  STORED_ANSWER_BYTES_MAX,
  withBarrier,
} from '../../src/index.ts'
import { beforeEachStatement, dropMysqlDatabase, openMysqlDatabase, readWord } from './mysql-fixture.ts'
import { dropPostgresDatabase, openPostgresDatabase } from './postgres-fixture.ts'

const HOLD = { holdId: 'h-1' }

/** One database, with barriers over it that a test can look into. */
interface Opened {
  /** A barrier whose calls go one by one over one connection, whose statements it notes. */
  noting(statements: string[]): Barrier<unknown>
  /** Runs the work with a barrier inside one transaction, which is rolled back. */
  inRolledBack(isolation: string, work: (barrier: Barrier<unknown>) => Promise<void>): Promise<void>
  /** How many sessions of this database wait for a lock. */
  waiting(): Promise<number>
  readonly barrier: Barrier<unknown>
  close(): Promise<void>
}

async function openMysql(url: string): Promise<Opened> {
  const pool: MysqlPool = await openMysqlDatabase(url)
  return {
    barrier: mysqlBarrier(pool),
    noting: (statements) =>
      mysqlBarrier(beforeEachStatement(pool, (sql) => void statements.push(readWord(sql)))),
    inRolledBack: async (isolation, work) => {
      const connection = await pool.getConnection()
      await connection.query(`SET TRANSACTION ISOLATION LEVEL ${isolation}`)
      await connection.beginTransaction()
      try {
        await work(mysqlBarrierIn(connection))
      } finally {
        await connection.rollback()
        connection.release()
      }
    },
    waiting: async () => {
      const sql = `SELECT COUNT(*) AS number FROM information_schema.innodb_trx JOIN information_schema.processlist
        ON trx_mysql_thread_id = id WHERE trx_state = 'LOCK WAIT' AND db = DATABASE()`
      const [rows] = await pool.query(sql)
      return Number((rows as { readonly number: unknown }[])[0]?.number)
    },
    close: () => dropMysqlDatabase(pool),
  }
}

async function openPostgres(url: string): Promise<Opened> {
  const pool: PostgresPool = await openPostgresDatabase(url)
  // The barrier keeps what it knows of a client under the object that it was lent, so that has to stay the same.
  const lent = new WeakMap<PoolClient, PoolClient>()
  const toNoting = (client: PoolClient, statements: string[]): PoolClient =>
    new Proxy(client, {
      get: (target, key) => {
        const value: unknown = Reflect.get(target, key)
        if (typeof value !== 'function') return value
        if (key !== 'query') return value.bind(target)
        return (statement: { readonly text: string }) => {
          statements.push(readWord(statement.text))
          return target.query(statement)
        }
      },
    })
  const noting = (statements: string[]) => ({
    totalCount: 0,
    connect: async () => {
      const client = await pool.connect()
      const known = lent.get(client) ?? toNoting(client, statements)
      lent.set(client, known)
      return known
    },
  })
  return {
    barrier: postgresBarrier(pool),
    noting: (statements) => postgresBarrier(noting(statements) as unknown as PostgresPool),
    inRolledBack: async (isolation, work) => {
      const client = await pool.connect()
      await client.query(`BEGIN ISOLATION LEVEL ${isolation}`)
      try {
        await work(postgresBarrierIn(client))
      } finally {
        await client.query('ROLLBACK')
        client.release()
      }
    },
    waiting: async () => {
      const { rows } = await pool.query(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
      )
      return Number(rows[0].count)
    },
    close: () => dropPostgresDatabase(url, pool),
  }
}

/**
 * The statements of a call, without those of its effect. An undo on MySQL takes as many as one that never reads the
 * answer, which would find the row by an INSERT that fails. PostgreSQL reads it with the statement that inserts.
 */
const STATEMENTS = {
  mysql: {
    action: ['START', 'INSERT', 'UPDATE', 'COMMIT'],
    compensate: ['START', 'INSERT', 'SELECT', 'UPDATE', 'COMMIT'],
    nothing: ['START', 'INSERT', 'SELECT', 'INSERT', 'COMMIT'],
  },
  postgres: {
    action: ['BEGIN;', 'INSERT', 'UPDATE', 'COMMIT'],
    compensate: ['BEGIN;', 'WITH', 'UPDATE', 'COMMIT'],
    nothing: ['BEGIN;', 'WITH', 'COMMIT'],
  },
}

for (const [server, open, expected] of [
  ['mariadb', openMysql, STATEMENTS.mysql],
  ['mysql', openMysql, STATEMENTS.mysql],
  ['postgres', openPostgres, STATEMENTS.postgres],
] as const) {
  describeOn(server, 'what an undo is handed, beside the suite of the barriers', (url) => {
    let opened: Opened
    let gids = 0
    const newCall = (): BarrierCall => ({ gid: `original-${++gids}`, branchId: '01', op: 'action' })
    const tell = (_tx: unknown, original?: JsonValue) => ({ original })
    beforeAll(async () => {
      opened = await open(url)
    })
    afterAll(() => opened.close())

    for (const isolation of ['READ COMMITTED', 'REPEATABLE READ']) {
      it(`the answer is read in the transaction of the undo, which alone sees the action (${isolation})`, async () => {
        const call = newCall()
        const back = { ...call, op: 'compensate' } as const
        await opened.inRolledBack(isolation, async (barrier) => {
          await withBarrier(barrier, call, () => HOLD)
          expect(await withBarrier(barrier, back, tell)).toEqual({ original: HOLD })
        })
        expect(await withBarrier(opened.barrier, back, tell)).toBeUndefined()
      })
    }

    it('an undo that came while its action was under way is handed its answer', async () => {
      const call = newCall()
      const gate = new EventEmitter()
      const acting = withBarrier(opened.barrier, call, async () => {
        const isOpened = once(gate, 'open')
        gate.emit('running')
        await isOpened
        return HOLD
      })
      await once(gate, 'running')
      const undoing = withBarrier(opened.barrier, { ...call, op: 'compensate' }, tell)
      await expect.poll(() => opened.waiting(), { timeout: 10_000, interval: 150 }).toBe(1)
      gate.emit('open')
      expect(await acting).toEqual(HOLD)
      expect(await undoing).toEqual({ original: HOLD })
    })

    it('an undo reads the answer with the row that decides it, and an action reads nothing', async () => {
      const statements: string[] = []
      const barrier = opened.noting(statements)
      // The first call over a pool may look at its settings.
      await withBarrier(barrier, newCall(), () => HOLD)
      statements.length = 0
      const call = newCall()
      await withBarrier(barrier, call, () => HOLD)
      expect(statements.splice(0)).toEqual(expected.action)
      expect(await withBarrier(barrier, { ...call, op: 'compensate' }, tell)).toEqual({ original: HOLD })
      expect(statements.splice(0)).toEqual(expected.compensate)
      await withBarrier(barrier, { ...newCall(), op: 'compensate' }, tell)
      expect(statements.splice(0)).toEqual(expected.nothing)
    })
  })
}

describeOn('redis', 'what the script of an undo is handed', (url) => {
  let redis: Redis
  let gids = 0
  const run = crypto.randomUUID().slice(0, 8)
  const newCall = (): BarrierCall => ({ gid: `original-${run}-${++gids}`, branchId: '01', op: 'action' })
  const key = `holds:${run}`
  beforeAll(() => {
    redis = new Redis(url)
  })
  afterAll(() => redis.quit())

  it('a script releases by the id that its action answered', async () => {
    const barrier = redisBarrier(redis)
    const hold = (tx: RedisEffects) =>
      tx.script(
        `local id = tostring(redis.call('INCR', KEYS[2]))
         redis.call('HSET', KEYS[1], id, ARGV[1])
         return success({ holdId = id })`,
        [key, `${key}:last`],
        [1_250],
      )
    const release = (tx: RedisEffects) =>
      tx.script("redis.call('HDEL', KEYS[1], cjson.decode(original).holdId)", [key])
    const calls = [newCall(), newCall(), newCall()]
    for (const call of calls) await barrier.run(call, hold)
    await barrier.run({ ...(calls[1] as BarrierCall), op: 'compensate' }, release)
    expect(await redis.hkeys(key)).toEqual(['1', '3'])
  })

  it('the answer is nil where it was dropped, and adds nothing to KEYS and ARGV', async () => {
    const barrier = redisBarrier(redis)
    const look = (tx: RedisEffects) =>
      tx.script('return success({ type(original), #KEYS, #ARGV, ARGV[2] })', [key], ['a', 'b'])
    const call = newCall()
    const large = 'x'.repeat(STORED_ANSWER_BYTES_MAX)
    const first = await barrier.run(call, (tx) => tx.script('return success(ARGV[1])', [], [large]))
    expect(first).toEqual({ decision: 'run' })
    const undone = await barrier.run({ ...call, op: 'compensate' }, look)
    expect(undone.answer).toBe('["nil",1,2,"b"]')
    const kept = newCall()
    expect((await barrier.run(kept, look)).answer).toBe('["nil",1,2,"b"]')
    expect((await barrier.run({ ...kept, op: 'compensate' }, look)).answer).toBe('["string",1,2,"b"]')
  })

  it('a script may have a variable of that name', async () => {
    const barrier = redisBarrier(redis)
    const call = newCall()
    await barrier.run(call, (tx) => tx.script('return success(1)', []))
    const own = (tx: RedisEffects) => tx.script("local original = 'own' return success(original)", [])
    expect((await barrier.run({ ...call, op: 'compensate' }, own)).answer).toBe('"own"')
  })
})
