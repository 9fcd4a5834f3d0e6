import { isMysqlCommit, startMariadb, startTcpProxy } from '@counterstep/test-servers'
import { canary } from '@counterstep/test-servers/canary'
import { createConnection, type RowDataPacket } from 'mysql2/promise'
import { readMysqlBooks } from '../books/read-mysql-books.ts'
import { keepMysqlJournal, readMysqlStore } from '../rows/mysql-books.ts'
import { migrateStore } from './migrate-store.ts'
import type { StoreFixture } from './store-fixture.ts'

const SERVERS = 3
const DATABASE = 'counterstep'
const USER = 'chaos'
const PASSWORD = canary('store-password')

/**
 * Starts one MariaDB for the servers, which is hurt, and one for the banks, which is not: with only one, each fault
 * would hit both.
 */
export async function openMysqlFixture(): Promise<StoreFixture> {
  const [server, bankServer] = await Promise.all([startMariadb(), startMariadb()])
  const url = `${server.url}/${DATABASE}`
  await runSql(server.url, `CREATE DATABASE ${DATABASE}`)
  await migrateStore(url)
  await keepMysqlJournal(url)
  await createUser(server.url)
  const servingUrl = url.replace('root@', `${USER}:${PASSWORD}@`)
  const bankUrl = (index: number) => `${bankServer.url}/bank_${index}`
  return {
    servers: SERVERS,
    async edge() {
      const proxy = await startTcpProxy({ host: '127.0.0.1', port: server.port })
      return {
        flags: {
          store: proxy.through(servingUrl),
          'store-failover': 'none',
          'store-connect-timeout-ms': 1_000,
        },
        proxy,
      }
    },
    isCommit: isMysqlCommit,
    server,
    allowConnections: (max) =>
      runSql(server.url, `ALTER USER '${USER}'@'%' WITH MAX_USER_CONNECTIONS ${max}`),
    connectionsMost: () => mostConnections(server.url),
    async bankDatabase(index) {
      await runSql(bankServer.url, `CREATE DATABASE bank_${index}`)
      return bankUrl(index)
    },
    readStore: () => readMysqlStore(url),
    readBank: (index) => readMysqlBooks(bankUrl(index)),
    async stop() {
      await Promise.all([server.stop(), bankServer.stop()])
    },
  }
}

/** Creates the servers' user with the rights that the documentation asks for. */
async function createUser(serverUrl: string): Promise<void> {
  await runSql(serverUrl, `CREATE USER '${USER}'@'%' IDENTIFIED BY '${PASSWORD}'`)
  await runSql(serverUrl, `GRANT SELECT, INSERT, UPDATE, DELETE ON ${DATABASE}.* TO '${USER}'@'%'`)
}

async function mostConnections(url: string): Promise<number> {
  const connection = await createConnection(url)
  try {
    const [rows] = await connection.query<RowDataPacket[]>("SHOW GLOBAL STATUS LIKE 'Max_used_connections'")
    return Number(rows[0]?.Value)
  } finally {
    await connection.end()
  }
}

async function runSql(url: string, sql: string): Promise<void> {
  const connection = await createConnection(url)
  try {
    await connection.query(sql)
  } finally {
    await connection.end()
  }
}
