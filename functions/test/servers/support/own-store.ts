import { randomBytes } from 'node:crypto'
import { Redis } from 'ioredis'
import { createConnection } from 'mysql2/promise'
import pg from 'pg'

/** A database, or a key prefix, that no other test uses, and a user of it with a password. */
export interface OwnStore {
  /** The URL has no password in it. */
  readonly url: string
  readonly variables: Readonly<Record<string, string>>
  drop(): Promise<void>
}

export function createOwnStore(serverUrl: string, password: string): Promise<OwnStore> {
  const name = `functions_${randomBytes(6).toString('hex')}`
  if (serverUrl.startsWith('redis:')) return createOwnKeys(serverUrl, name, password)
  return serverUrl.startsWith('postgres:')
    ? createOwnPostgresDatabase(serverUrl, name, password)
    : createOwnDatabase(serverUrl, name, password)
}

async function createOwnPostgresDatabase(
  serverUrl: string,
  name: string,
  password: string,
): Promise<OwnStore> {
  const root = new pg.Client({ connectionString: serverUrl })
  await root.connect()
  await root.query(`CREATE ROLE ${name} LOGIN PASSWORD ${pg.escapeLiteral(password)}`)
  await root.query(`CREATE DATABASE ${name} OWNER ${name} TEMPLATE template0 ENCODING 'UTF8'`)
  const { host } = new URL(serverUrl)
  return {
    url: `postgres://${name}@${host}/${name}`,
    variables: {},
    async drop() {
      await root.query(`DROP DATABASE ${name} WITH (FORCE)`)
      await root.query(`DROP ROLE ${name}`)
      await root.end()
    },
  }
}

async function createOwnDatabase(serverUrl: string, name: string, password: string): Promise<OwnStore> {
  const root = await createConnection(serverUrl)
  await root.query(`CREATE DATABASE ${name}`)
  await root.query(`CREATE USER '${name}'@'%' IDENTIFIED BY ?`, [password])
  await root.query(`GRANT ALL ON ${name}.* TO '${name}'@'%'`)
  const { host } = new URL(serverUrl)
  return {
    url: `mysql://${name}@${host}/${name}`,
    variables: {},
    async drop() {
      await root.query(`DROP DATABASE ${name}`)
      await root.query(`DROP USER '${name}'@'%'`)
      await root.end()
    },
  }
}

async function createOwnKeys(serverUrl: string, name: string, password: string): Promise<OwnStore> {
  const root = new Redis(serverUrl)
  await root.call('ACL', 'SETUSER', name, 'on', `>${password}`, '~*', '&*', '+@all')
  const { host } = new URL(serverUrl)
  return {
    url: `redis://${name}@${host}`,
    variables: { COUNTERSTEP_STORE_KEY_PREFIX: name },
    async drop() {
      for (const key of await root.keys(`*${name}*`)) await root.del(key)
      await root.call('ACL', 'DELUSER', name)
      root.disconnect()
    },
  }
}
