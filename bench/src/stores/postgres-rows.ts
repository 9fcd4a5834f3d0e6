import { Client } from 'pg'

/** Asks a PostgreSQL on a connection of its own, which no measurement shares. */
export async function readRows(
  url: string,
  sql: string,
  values: readonly (string | number)[] = [],
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(sql, [...values])).rows
  } finally {
    await client.end()
  }
}

export function toPostgresDatabase(serverUrl: string, name: string): string {
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  return url.href
}
