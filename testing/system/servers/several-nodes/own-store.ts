import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { type Connection, createConnection, type RowDataPacket } from 'mysql2/promise'
import { Client } from 'pg'

export interface OwnStore {
  /** The URL of the store that a node is started with. */
  readonly url: string
  /** Tells whether a database transaction has been open for long, with locks that others wait for. */
  hasLongTransaction(): Promise<boolean>
  drop(): Promise<void>
}

const IN_FLIGHT_MS = 200
const LOOKS = 10
const POLL_EVERY_MS = 50
/**
 * The monitor's text and not `information_schema.innodb_trx`, which answers from a cache for as long as anyone, another test
 * too, has read it within the last 100 ms. It gives no id to a transaction that has only read, also where it locks what it reads.
 */
const SHOW_TRANSACTIONS = 'SHOW ENGINE INNODB STATUS'
const OPEN_TRANSACTION = /^(\d+), ACTIVE[\s\S]*? thread id (\d+)/
const LIST_THREADS = 'SELECT id FROM information_schema.processlist WHERE db = ?'

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
    // A statement that was sent before the node froze may still be on its way.
    await delay(IN_FLIGHT_MS)
    let open = await listTransactions(connection, database)
    // On a slow disk there is always an open one of a node that runs, but not the same one.
    for (let looks = 1; looks < LOOKS && open.length > 0; looks++) {
      await delay(POLL_EVERY_MS)
      const now = new Set(await listTransactions(connection, database))
      open = open.filter((id) => now.has(id))
    }
    return open.length > 0
  } finally {
    await connection.end()
  }
}

async function listTransactions(connection: Connection, database: string): Promise<readonly string[]> {
  const [threads] = await connection.query<RowDataPacket[]>(LIST_THREADS, [database])
  const ours = new Set(threads.map(({ id }) => String(id)))
  const [[status]] = await connection.query<RowDataPacket[]>(SHOW_TRANSACTIONS)
  const texts: readonly string[] = status?.Status.split('---TRANSACTION ')
  return texts.flatMap((text) => {
    const [, id = '', thread = ''] = OPEN_TRANSACTION.exec(text) ?? []
    return ours.has(thread) ? [id] : []
  })
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
