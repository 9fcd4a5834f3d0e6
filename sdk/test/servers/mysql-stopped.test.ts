import { startMariadb, startMysql } from '@counterstep/test-servers'
import { describeOwn } from '@counterstep/test-servers/vitest'
import { createPool, type Pool, type PoolConnection, type RowDataPacket } from 'mysql2/promise'
import { mysqlBarrier } from '../../src/barrier/mysql.ts'
import { actOnMysql, countMysqlRows, mysqlEffects, openMysqlDatabase } from './mysql-fixture.ts'
import { type StoppableFixture, stoppedDatabaseSuite } from './stopped-database-suite.ts'

for (const [kind, start] of [
  ['mariadb', startMariadb],
  ['mysql', startMysql],
] as const) {
  describeOwn(kind, 'the MySQL barrier while its server is stopped', () => {
    stoppedDatabaseSuite(async (): Promise<StoppableFixture<PoolConnection>> => {
      const server = await start()
      const observer = await openMysqlDatabase(server.url)
      const [rows] = await observer.query<RowDataPacket[]>('SELECT DATABASE() AS name')
      const openPool = () => createPool({ uri: `${server.url}/${rows[0]?.name}`, connectionLimit: 1 })
      let pool = openPool()
      const toOptions = (timeoutMs: number | undefined) => (timeoutMs === undefined ? {} : { timeoutMs })
      return {
        barrier: (timeoutMs) => mysqlBarrier(pool, toOptions(timeoutMs)),
        barrierStoppedAtCommit: (timeoutMs) =>
          mysqlBarrier(pausingAtCommit(pool, server.pause), { timeoutMs }),
        act: (tx, call) => actOnMysql(tx, call, { does: 'succeed' }),
        effects: (gid) => mysqlEffects(observer, gid),
        rows: (gid) => countMysqlRows(observer, gid),
        occupy: async () => {
          const connection = await pool.getConnection()
          return () => connection.release()
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
}

function pausingAtCommit(pool: Pool, pause: () => Promise<void>): Pick<Pool, 'getConnection'> {
  return {
    getConnection: async () => {
      const connection = await pool.getConnection()
      const query = connection.query.bind(connection)
      connection.query = (async (statement: { readonly sql: string }) => {
        if (statement.sql === 'COMMIT') await pause()
        return query(statement)
      }) as typeof connection.query
      return connection
    },
  }
}
