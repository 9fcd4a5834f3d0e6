import { describeOn } from '@counterstep/test-servers/vitest'
import fastify from 'fastify'
import { Redis } from 'ioredis'
import type { PoolConnection, ResultSetHeader, RowDataPacket } from 'mysql2/promise'
import type { PoolClient } from 'pg'
import { expect, it } from 'vitest'
import { mysqlBarrier } from '../../src/barrier/mysql.ts'
import { postgresBarrier } from '../../src/barrier/postgres.ts'
import { redisBarrier } from '../../src/barrier/redis.ts'
import { branchHandler } from '../../src/fastify.ts'
import { type Branch, BranchFailure } from '../../src/index.ts'
import { assertBranch, type BranchUnderTest } from '../../src/testing/index.ts'
import { dropMysqlDatabase, openMysqlDatabase } from './mysql-fixture.ts'
import { dropPostgresDatabase, openPostgresDatabase } from './postgres-fixture.ts'

interface Payload {
  readonly cents: number
}

const START_CENTS = 10_000
const LIMITS_MS = 120_000

const toDelta = ({ op, payload: { cents } }: Branch<Payload>): number => (op === 'action' ? -cents : cents)

function refusedUnless(changed: number | null): void {
  if (changed !== 1) throw new BranchFailure('not enough money', { code: 'INSUFFICIENT_FUNDS' })
}

/** Checks that everything passes that can be checked of an action that takes: its result cannot be spent. */
async function mustPass(
  branch: Pick<BranchUnderTest, 'service' | 'read' | 'drain' | 'outage'>,
): Promise<void> {
  const { checks } = await assertBranch({
    action: '/wallet',
    compensation: '/wallet',
    payload: { cents: 100 },
    refusedPayload: { cents: 100 * START_CENTS },
    isPivot: true,
    lingerMs: 100,
    ...branch,
  })
  expect(checks.filter(({ outcome }) => outcome !== 'passed').map(({ name }) => name)).toEqual(['spent'])
}

for (const server of ['mariadb', 'mysql'] as const) {
  describeOn(server, 'the test kit', (url) => {
    it(
      'A service behind the MySQL barrier passes the test kit',
      async () => {
        const pool = await openMysqlDatabase(url)
        await pool.query('CREATE TABLE account (id INT PRIMARY KEY, cents BIGINT NOT NULL)')
        await pool.query('INSERT INTO account VALUES (1, ?)', [START_CENTS])
        const app = fastify()
        const move = async (tx: PoolConnection, branch: Branch<Payload>) => {
          const sql = 'UPDATE account SET cents = cents + ? WHERE id = 1 AND cents + ? >= 0'
          const delta = toDelta(branch)
          const [{ affectedRows }] = await tx.execute<ResultSetHeader>(sql, [delta, delta])
          refusedUnless(affectedRows)
        }
        app.post('/wallet', branchHandler(mysqlBarrier(pool), move))
        const service = { url: await app.listen({ host: '127.0.0.1', port: 0 }) }
        await mustPass({
          service,
          read: async () => (await pool.query<RowDataPacket[]>('SELECT cents FROM account'))[0],
          drain: () => pool.query('UPDATE account SET cents = 0'),
          outage: {
            begin: () => pool.query('RENAME TABLE account TO away'),
            end: () => pool.query('RENAME TABLE away TO account'),
          },
        })
        await app.close()
        await dropMysqlDatabase(pool)
      },
      LIMITS_MS,
    )
  })
}

describeOn('postgres', 'the test kit', (url) => {
  it(
    'A service behind the PostgreSQL barrier passes the test kit',
    async () => {
      const pool = await openPostgresDatabase(url)
      await pool.query('CREATE TABLE account (id int PRIMARY KEY, cents bigint NOT NULL)')
      await pool.query('INSERT INTO account VALUES (1, $1)', [START_CENTS])
      const app = fastify()
      const move = async (tx: PoolClient, branch: Branch<Payload>) => {
        const sql = 'UPDATE account SET cents = cents + $1::bigint WHERE id = 1 AND cents + $1::bigint >= 0'
        refusedUnless((await tx.query(sql, [toDelta(branch)])).rowCount)
      }
      app.post('/wallet', branchHandler(postgresBarrier(pool), move))
      const service = { url: await app.listen({ host: '127.0.0.1', port: 0 }) }
      await mustPass({
        service,
        read: async () => (await pool.query('SELECT cents FROM account')).rows,
        drain: () => pool.query('UPDATE account SET cents = 0'),
        outage: {
          begin: () => pool.query('ALTER TABLE account RENAME TO away'),
          end: () => pool.query('ALTER TABLE away RENAME TO account'),
        },
      })
      await app.close()
      await dropPostgresDatabase(url, pool)
    },
    LIMITS_MS,
  )
})

describeOn('redis', 'the test kit', (url) => {
  it(
    'A service behind the Redis barrier passes the test kit',
    async () => {
      const redis = new Redis(url)
      const run = crypto.randomUUID()
      const [key, away] = [`account:${run}`, `away:${run}`]
      await redis.set(key, START_CENTS)
      const app = fastify()
      const barrier = redisBarrier(redis, { prefix: `kit-${run}` })
      app.post(
        '/wallet',
        branchHandler(barrier, (tx, branch: Branch<Payload>) =>
          tx.add({ key, delta: toDelta(branch), minimum: 0 }),
        ),
      )
      const service = { url: await app.listen({ host: '127.0.0.1', port: 0 }) }
      await mustPass({
        service,
        read: () => redis.get(key),
        drain: () => redis.set(key, 0),
        // The outage is a key of another type, to which Redis refuses to add.
        outage: {
          begin: async () => {
            await redis.rename(key, away)
            await redis.rpush(key, 'no number')
          },
          end: () => redis.rename(away, key),
        },
      })
      await app.close()
      await redis.del(key)
      await redis.quit()
    },
    LIMITS_MS,
  )
})
