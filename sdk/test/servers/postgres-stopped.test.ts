import { startPostgres } from '@counterstep/test-servers'
import { describeOwn } from '@counterstep/test-servers/vitest'
import { Pool, type PoolClient } from 'pg'
import { postgresBarrier } from '../../src/barrier/postgres.ts'
import {
  actOnPostgres,
  countPostgresRows,
  openPostgresDatabase,
  postgresEffects,
} from './postgres-fixture.ts'
import { type StoppableFixture, stoppedDatabaseSuite } from './stopped-database-suite.ts'

describeOwn('postgres', 'the PostgreSQL barrier while its server is stopped', () => {
  stoppedDatabaseSuite(async (): Promise<StoppableFixture<PoolClient>> => {
    const server = await startPostgres()
    const observer = hearing(await openPostgresDatabase(server.url))
    const openPool = () =>
      hearing(new Pool({ connectionString: String(observer.options.connectionString), max: 1 }))
    let pool = openPool()
    const toOptions = (timeoutMs: number | undefined) => (timeoutMs === undefined ? {} : { timeoutMs })
    return {
      barrier: (timeoutMs) => postgresBarrier(pool, toOptions(timeoutMs)),
      barrierStoppedAtCommit: (timeoutMs) =>
        postgresBarrier(pausingAtCommit(pool, server.pause), { timeoutMs }),
      act: (tx, call) => actOnPostgres(tx, call, { does: 'succeed' }),
      effects: (gid) => postgresEffects(observer, gid),
      rows: (gid) => countPostgresRows(observer, gid),
      occupy: async () => {
        const client = await pool.connect()
        return () => client.release()
      },
      disconnect: async () => {
        await pool.end()
        pool = openPool()
      },
      pause: () => server.pause(),
      resume: () => server.resume(),
      close: async () => {
        await Promise.all([pool.end(), observer.end()])
        await server.stop()
      },
    }
  })
})

/** The end of a pool does not wait for the end of its connections, which then hear that the server stops. */
function hearing(pool: Pool): Pool {
  return pool.on('error', (error) => error)
}

function pausingAtCommit(pool: Pool, pause: () => Promise<void>) {
  return {
    totalCount: 0,
    connect: async (): Promise<PoolClient> => {
      const client = await pool.connect()
      const query = client.query.bind(client) as (...parameters: unknown[]) => Promise<unknown>
      client.query = (async (...parameters: unknown[]) => {
        if (JSON.stringify(parameters[0]) === '{"text":"COMMIT"}') await pause()
        return query(...parameters)
      }) as typeof client.query
      return client
    },
  }
}
