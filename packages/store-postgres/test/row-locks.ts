import pg from 'pg'

/** Runs the work with a client that has begun a database transaction, which is rolled back afterwards. */
export async function inTransaction(url: string, work: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  // A server that is stopped sends an error to each client. The test gets it from its next statement.
  client.on('error', (error) => error)
  await client.connect()
  try {
    await client.query('BEGIN')
    await work(client)
  } finally {
    // The server rolls back what is left.
    await client.end()
  }
}

/** Runs the work while another session has the lock of the row, until the work gives it back. */
export function onLockedRow(
  url: string,
  gid: string,
  work: (unlock: () => Promise<void>) => Promise<void>,
): Promise<void> {
  return inTransaction(url, async (client) => {
    await client.query(lockRow(gid))
    await work(async () => void (await client.query('ROLLBACK')))
  })
}

/** Writes the statement that locks a row until the end of its database transaction, as an update does. */
export function lockRow(gid: string): string {
  return `UPDATE counterstep_transactions SET attention = 1 - attention WHERE gid = '${gid}'`
}
