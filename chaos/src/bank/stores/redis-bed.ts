import { join } from 'node:path'
import { isRedisScript, startRedis, startTcpProxy } from '@counterstep/test-servers'
import { readSqliteBooks } from '../books/read-sqlite-books.ts'
import { readRedisStore } from '../rows/redis-books.ts'
import type { StoreBed } from './store-bed.ts'

const SERVERS = 3
/** An argument that is a JSON object: the progress of a row. Reads and claims have none. */
const ROW = '\r\n{'

/** One Redis with `appendfsync always` for the servers. The banks have SQLite: Redis would be no ledger. */
export async function openRedisBed(folder: string): Promise<StoreBed> {
  const server = await startRedis()
  const bankFile = (index: number) => join(folder, `bank-${index}.db`)
  return {
    servers: SERVERS,
    async edge() {
      const proxy = await startTcpProxy({ host: '127.0.0.1', port: server.port })
      return { flags: { store: proxy.through(server.url), 'store-connect-timeout-ms': 1_000 }, proxy }
    },
    isCommit: (chunk) => isRedisScript(chunk) && chunk.includes(ROW),
    server,
    bankDatabase: async (index) => bankFile(index),
    readStore: () => readRedisStore(server.url),
    readBank: async (index) => readSqliteBooks(bankFile(index)),
    stop: () => server.stop(),
  }
}
