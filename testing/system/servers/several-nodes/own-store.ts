import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { createConnection, type RowDataPacket } from 'mysql2/promise'
import { Client } from 'pg'

export interface OwnStore {
  /** The URL of the store that a node is started with. */
  readonly url: string
  /** Tells whether a database transaction has been open for long, with locks that others wait for. */
  hasLongTransaction(): Promise<boolean>
  drop(): Promise<void>
}

/** MariaDB answers for so long what it has answered before. */
const TRANSACTIONS_CACHED_MS = 100
const LOOKS = 10
const POLL_EVERY_MS = 50
const COUNT_TRANSACTIONS = `SELECT COUNT(*) AS count FROM information_schema.innodb_trx
  JOIN information_schema.processlist ON processlist.id = innodb_trx.trx_mysql_thread_id WHERE db = ?`

/** Makes a database of MySQL, of PostgreSQL or of Redis that no other test uses. */
export function ownStore(serverUrl: string): Promise<OwnStore> {
  const name = `several_${randomBytes(6).toString('hex')}`
  if (serverUrl.startsWith('redis:')) return ownNumber(serverUrl, name)
  return serverUrl.startsWith('postgres:') ? ownPostgres(serverUrl, name) : ownDatabase(serverUrl, name)
}

async function ownDatabase(serverUrl: string, name: string): Promise<OwnStore> {
  await runSql(serverUrl, `CREATE DATABASE ${name}`)
  return {
    url: `${serverUrl}/${name}`,
    hasLongTransaction: () => hasLongTransaction(serverUrl, name),
    drop: () => runSql(serverUrl, `DROP DATABASE ${name}`),
  }
}

const COUNT_LONG = `SELECT count(*)::integer AS count FROM pg_stat_activity
  WHERE datname = $1 AND backend_xid IS NOT NULL AND xact_start < clock_timestamp() - interval '500 milliseconds'`

async function ownPostgres(serverUrl: string, name: string): Promise<OwnStore> {
  const ask = async (sql: string, values: readonly string[] = []) => {
    const client = new Client({ connectionString: serverUrl })
    await client.connect()
    try {
      return (await client.query(sql, [...values])).rows
    } finally {
      await client.end()
    }
  }
  await ask(`CREATE DATABASE ${name}`)
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  return {
    url: url.href,
    hasLongTransaction: async () => {
      await delay(LOOKS * POLL_EVERY_MS)
      return (await ask(COUNT_LONG, [name]))[0]?.count > 0
    },
    drop: async () => void (await ask(`DROP DATABASE ${name} WITH (FORCE)`)),
  }
}

async function hasLongTransaction(serverUrl: string, database: string): Promise<boolean> {
  const connection = await createConnection(serverUrl)
  try {
    await delay(2 * TRANSACTIONS_CACHED_MS)
    for (let looks = 0; looks < LOOKS; looks++) {
      const [rows] = await connection.query<RowDataPacket[]>(COUNT_TRANSACTIONS, [database])
      if (Number(rows[0]?.count) === 0) return false
      await delay(POLL_EVERY_MS)
    }
    return true
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

/** Redis has 16 databases by default; 0 is left to others. */
const NUMBERS = Array.from({ length: 15 }, (_, index) => index + 1)
const OWNER_KEY = 'several-nodes:owner'
/** A test run that broke off does not keep its number for ever. */
const OWNED_SECONDS_MAX = 600

async function ownNumber(serverUrl: string, name: string): Promise<OwnStore> {
  for (const number of NUMBERS) {
    const url = `${serverUrl}/${number}`
    const redis = new Redis(url)
    try {
      const isOurs = await redis.set(OWNER_KEY, name, 'EX', OWNED_SECONDS_MAX, 'NX')
      if (isOurs === 'OK') {
        return { url, hasLongTransaction: async () => false, drop: () => emptyDatabase(url) }
      }
    } finally {
      redis.disconnect()
    }
  }
  throw new Error(`all databases of ${serverUrl} are taken`)
}

async function emptyDatabase(url: string): Promise<void> {
  const redis = new Redis(url)
  try {
    await redis.flushdb()
  } finally {
    redis.disconnect()
  }
}
