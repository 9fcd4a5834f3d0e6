import { createConnection } from 'mysql2/promise'
import { Client } from 'pg'

/** One empty database on each server, of one name. */
export interface Databases {
  readonly mysqlUrl: string
  readonly postgresUrl: string
  drop(): Promise<void>
}

export async function createDatabases(servers: {
  readonly mysql: string
  readonly postgres: string
}): Promise<Databases> {
  const name = `transfer_${crypto.randomUUID().slice(0, 8)}`
  const onBoth = async (sql: string) => {
    await onMysql(servers.mysql, sql)
    await onPostgres(servers.postgres, sql)
  }
  await onBoth(`CREATE DATABASE ${name}`)
  return {
    mysqlUrl: withDatabase(servers.mysql, name),
    postgresUrl: withDatabase(servers.postgres, name),
    drop: () => onBoth(`DROP DATABASE ${name}`),
  }
}

async function onMysql(url: string, sql: string): Promise<void> {
  const connection = await createConnection(url)
  await connection.query(sql)
  await connection.end()
}

async function onPostgres(url: string, sql: string): Promise<void> {
  const client = new Client(url)
  await client.connect()
  await client.query(sql)
  await client.end()
}

function withDatabase(url: string, name: string): string {
  const own = new URL(url)
  own.pathname = `/${name}`
  return own.href
}
