import { join } from 'node:path'
import { isRedisScript, startRedis, startTcpProxy } from '@counterstep/test-servers'
import { canary } from '@counterstep/test-servers/canary'
import { Redis } from 'ioredis'
import { readSqliteBooks } from '../books/read-sqlite-books.ts'
import { readRedisStore } from '../rows/redis-books.ts'
import type { StoreFixture } from './store-fixture.ts'

const SERVERS = 3
const USER = 'chaos'
const PASSWORD = canary('store-password')
/** An argument that is a JSON object: the progress of a row. Reads and claims have none. */
const ROW = '\r\n{'

/** The auditor reads the history of all rows from the file of commands, which must not be written anew meanwhile. */
const WHOLE_HISTORY = ['--auto-aof-rewrite-percentage', '0']

/** One Redis with `appendfsync always` for the servers. The banks have SQLite: Redis would be no ledger. */
export async function openRedisFixture(folder: string): Promise<StoreFixture> {
  const server = await startRedis({ settings: WHOLE_HISTORY })
  await createUser(server.url)
  const servingUrl = server.url.replace('//', `//${USER}:${PASSWORD}@`)
  const bankFile = (index: number) => join(folder, `bank-${index}.db`)
  return {
    servers: SERVERS,
    async edge() {
      const proxy = await startTcpProxy({ host: '127.0.0.1', port: server.port })
      return { flags: { store: proxy.through(servingUrl), 'store-connect-timeout-ms': 1_000 }, proxy }
    },
    isCommit: (chunk) => isRedisScript(chunk) && chunk.includes(ROW),
    server,
    bankDatabase: async (index) => bankFile(index),
    readStore: () => readRedisStore(server.url),
    readBank: async (index) => readSqliteBooks(bankFile(index)),
    stop: () => server.stop(),
  }
}

/** Kept with the server's data, which it starts with again. */
async function createUser(url: string): Promise<void> {
  const redis = new Redis(url)
  try {
    await redis.acl('SETUSER', USER, 'on', `>${PASSWORD}`, '~*', '&*', '+@all')
    await redis.acl('SAVE')
  } finally {
    redis.disconnect()
  }
}
