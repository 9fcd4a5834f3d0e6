import { Client, Pool, type PoolClient, type PoolConfig } from 'pg'
import { buildLocalCall } from '../../src/barrier/message-barrier.ts'
import { migrateBarrier, postgresBarrier, purgeBarrier } from '../../src/barrier/postgres.ts'
import type { BarrierCall, JsonValue } from '../../src/index.ts'
import { answerBy, type SuiteEffect, thrownBy } from '../barrier/barrier-fixture.ts'
import type { MessageFixture } from '../barrier/message-suite.ts'
import { opsByGid } from '../barrier/ops-by-gid.ts'
import { purging, suiteClock } from '../barrier/suite-clock.ts'

const CLIENTS = 48

/** This is a database of its own on a shared server, with the barrier's table and one for effects. */
export async function openPostgresDatabase(url: string, options: PoolConfig = {}): Promise<Pool> {
  const database = `sdk_${crypto.randomUUID().slice(0, 8)}`
  const administrator = new Client({ connectionString: url })
  await administrator.connect()
  await administrator.query(`CREATE DATABASE ${database}`)
  await administrator.end()
  const own = new URL(url)
  own.pathname = `/${database}`
  const pool = new Pool({ connectionString: own.href, max: CLIENTS, ...options })
  await migrateBarrier(pool)
  await pool.query(`CREATE TABLE effect (number bigserial PRIMARY KEY, gid text, op text);
    CREATE INDEX ON effect (gid)`)
  return pool
}

export async function dropPostgresDatabase(url: string, pool: Pool): Promise<void> {
  const { rows } = await pool.query('SELECT current_database() AS name')
  await pool.end()
  const administrator = new Client({ connectionString: url })
  await administrator.connect()
  // It waits for the last connections to go; to force them would make them say so after the end of the test.
  await administrator.query(`DROP DATABASE ${rows[0].name}`)
  await administrator.end()
}

export async function actOnPostgres(
  tx: Pick<PoolClient, 'query'>,
  call: BarrierCall,
  effect: SuiteEffect,
  original?: JsonValue,
) {
  await tx.query('INSERT INTO effect (gid, op) VALUES ($1, $2)', [call.gid, call.op])
  const error = thrownBy(effect)
  if (error !== undefined) throw error
  return answerBy(effect, original)
}

export async function postgresEffects(pool: Pool, gid: string): Promise<string[]> {
  const { rows } = await pool.query('SELECT op FROM effect WHERE gid = $1 ORDER BY number', [gid])
  return rows.map(({ op }) => String(op))
}

export async function postgresEffectsOfEach(pool: Pool, gids: readonly string[]): Promise<string[][]> {
  const sql = 'SELECT gid, op FROM effect WHERE gid = ANY($1) ORDER BY number'
  const { rows } = await pool.query<{ gid: string; op: string }>(sql, [gids])
  return opsByGid(gids, rows)
}

export async function countPostgresRows(pool: Pool, gid: string): Promise<number> {
  const { rows } = await pool.query('SELECT count(*) AS number FROM counterstep_barrier WHERE gid = $1', [
    gid,
  ])
  return Number(rows[0].number)
}

export async function openPostgresFixture(url: string, options: PoolConfig = {}): Promise<MessageFixture> {
  const pool = await openPostgresDatabase(url, options)
  const barrier = postgresBarrier(pool, suiteClock)
  return {
    run: (call, effect) => barrier.run(call, (tx, original) => actOnPostgres(tx, call, effect, original)),
    runLosingCommit: (call, effect, when) =>
      postgresBarrier(losingCommit(pool, when)).run(call, (tx, original) =>
        actOnPostgres(tx, call, effect, original),
      ),
    queryPrepared: barrier.queryPrepared,
    runHeld: (gid, gate) =>
      barrier.run(buildLocalCall(gid), async (tx) => {
        await actOnPostgres(tx, buildLocalCall(gid), { does: 'succeed' })
        await gate()
      }),
    effects: (gid) => postgresEffects(pool, gid),
    effectsOfEach: (gids) => postgresEffectsOfEach(pool, gids),
    rows: (gid) => countPostgresRows(pool, gid),
    rollsBack: true,
    purge: async (before) => {
      await purgeBarrier(pool, purging(before))
    },
    deadlocks: async () => {
      const { rows } = await pool.query(
        'SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()',
      )
      return Number(rows[0].deadlocks)
    },
    close: () => dropPostgresDatabase(url, pool),
  }
}

/** A pool whose clients break at COMMIT: really, so that the server sees them go. */
export function losingCommit(pool: Pool, when: 'before' | 'after') {
  return {
    totalCount: 0,
    connect: async (): Promise<PoolClient> => {
      const client = await pool.connect()
      const query = client.query.bind(client) as (...parameters: unknown[]) => Promise<unknown>
      client.query = (async (...parameters: unknown[]) => {
        const [statement] = parameters
        const isCommit = typeof statement === 'object' && JSON.stringify(statement) === '{"text":"COMMIT"}'
        if (!isCommit) return query(...parameters)
        if (when === 'after') await query(...parameters)
        client.release(true)
        client.release = () => undefined
        throw new Error('Connection terminated unexpectedly')
      }) as typeof client.query
      return client
    },
  }
}
