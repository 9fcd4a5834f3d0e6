import { createConnection } from 'mysql2/promise'

/** A fresh database on that server; its URL. `name` is one of ours, not quoted. */
export async function newSqlDatabase(serverUrl: string, name: string): Promise<string> {
  const connection = await createConnection({ uri: serverUrl, multipleStatements: true })
  try {
    await connection.query(`DROP DATABASE IF EXISTS ${name}; CREATE DATABASE ${name}`)
  } finally {
    await connection.end()
  }
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  return url.href
}
