import { Client } from 'pg'
import { NUMBERS } from './numbers.ts'

/** Works with one connection, and closes it. */
export async function withPostgres<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url, types: NUMBERS })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}
