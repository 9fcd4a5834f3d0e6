import { Client, type QueryConfig } from 'pg'

type Row = Record<string, unknown>

/** Runs `use` on one connection. */
export async function onClient<T>(url: string, use: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url })
  // A killed server sends an error to each client. The test gets it from its next query.
  client.on('error', (error) => error)
  await client.connect()
  try {
    return await use(client)
  } finally {
    await client.end()
  }
}

/** Returns the rows of one statement on a connection of its own. */
export async function ask(url: string, query: string | QueryConfig): Promise<readonly Row[]> {
  return await onClient(url, async (client) => (await client.query(query)).rows)
}

/** Runs `use` on the URL of a new database, which is dropped afterwards. */
export async function onFreshDatabase<T>(
  server: string,
  name: string,
  use: (url: string) => Promise<T>,
): Promise<T> {
  await ask(server, `CREATE DATABASE ${name}`)
  const url = new URL(server)
  url.pathname = `/${name}`
  try {
    return await use(url.href)
  } finally {
    // A pooler keeps connections to it.
    await ask(server, `DROP DATABASE ${name} WITH (FORCE)`)
  }
}

export function withUser(server: string, name: string, password: string): string {
  const url = new URL(server)
  url.username = name
  url.password = encodeURIComponent(password)
  return url.href
}
