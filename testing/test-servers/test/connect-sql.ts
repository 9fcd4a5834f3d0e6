import { type Connection, createConnection, type RowDataPacket } from 'mysql2/promise'

/** Runs `use` on one connection. */
export async function onConnection<T>(url: string, use: (connection: Connection) => Promise<T>): Promise<T> {
  const connection = await createConnection(url)
  try {
    return await use(connection)
  } finally {
    connection.destroy()
  }
}

/** Returns the rows of one statement on a connection of its own. */
export async function ask(url: string, sql: string): Promise<readonly RowDataPacket[]> {
  return await onConnection(url, async (connection) => {
    const [rows] = await connection.query<RowDataPacket[]>(sql)
    return rows
  })
}
