import { randomBytes } from 'node:crypto'
import { Redis } from 'ioredis'
import { createConnection } from 'mysql2/promise'

export interface OwnStore {
  /** What a node is started with to use it. */
  readonly url: string
  drop(): Promise<void>
}

/** A database of MySQL or of Redis that nobody else has. */
export function ownStore(serverUrl: string): Promise<OwnStore> {
  const name = `several_${randomBytes(6).toString('hex')}`
  return serverUrl.startsWith('redis:') ? ownNumber(serverUrl, name) : ownDatabase(serverUrl, name)
}

async function ownDatabase(serverUrl: string, name: string): Promise<OwnStore> {
  await runSql(serverUrl, `CREATE DATABASE ${name}`)
  return { url: `${serverUrl}/${name}`, drop: () => runSql(serverUrl, `DROP DATABASE ${name}`) }
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
      if (isOurs === 'OK') return { url, drop: () => emptyDatabase(url) }
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
