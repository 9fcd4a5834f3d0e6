import { isPostgresCommit, matchPostgres, startPostgres, startTcpProxy } from '@counterstep/test-servers'
import { canary } from '@counterstep/test-servers/canary'
import { readPostgresBooks } from '../books/read-postgres-books.ts'
import { withPostgres } from '../postgres/with-postgres.ts'
import { keepPostgresJournal, readPostgresStore } from '../rows/postgres-books.ts'
import { migrateStore } from './migrate-store.ts'
import type { StoreFixture } from './store-fixture.ts'

const SERVERS = 3
const DATABASE = 'counterstep'
const USER = 'chaos'
const PASSWORD = canary('store-password')

/** A flush of rows is one statement, which is its own commit. Claims are left out: most of them find nothing and write nothing. */
const FLUSH = /\bINSERT INTO counterstep_transactions\b|\bprogress = new\.progress\b/

/** The rights that the documentation asks for. */
const RIGHTS = `
  GRANT SELECT, INSERT, UPDATE, DELETE ON counterstep_transactions, counterstep_documents TO ${USER};
  GRANT SELECT, INSERT, DELETE ON counterstep_tags TO ${USER};
  GRANT SELECT ON counterstep_schema TO ${USER}`

/**
 * Starts one PostgreSQL for the servers, which is hurt, and one for the banks, which is not: with only one, each fault
 * would hit both.
 */
export async function openPostgresFixture(): Promise<StoreFixture> {
  const [server, bankServer] = await Promise.all([startPostgres(), startPostgres()])
  const url = toDatabaseUrl(server.url, DATABASE)
  await runSql(server.url, `CREATE DATABASE ${DATABASE}`)
  await migrateStore(url)
  await keepPostgresJournal(url)
  await runSql(url, `CREATE ROLE ${USER} LOGIN PASSWORD '${PASSWORD}'; ${RIGHTS}`)
  const servingUrl = url.replace('postgres@', `${USER}:${PASSWORD}@`)
  const bankUrl = (index: number) => toDatabaseUrl(bankServer.url, `bank_${index}`)
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
    isCommit: matchPostgres((sql) => FLUSH.test(sql) || isPostgresCommit(sql)),
    server,
    async bankDatabase(index) {
      await runSql(bankServer.url, `CREATE DATABASE bank_${index}`)
      return bankUrl(index)
    },
    readStore: () => readPostgresStore(url),
    readBank: (index) => readPostgresBooks(bankUrl(index)),
    async stop() {
      await Promise.all([server.stop(), bankServer.stop()])
    },
  }
}

function toDatabaseUrl(serverUrl: string, database: string): string {
  const url = new URL(serverUrl)
  url.pathname = `/${database}`
  return url.href
}

async function runSql(url: string, sql: string): Promise<void> {
  await withPostgres(url, (client) => client.query(sql))
}
