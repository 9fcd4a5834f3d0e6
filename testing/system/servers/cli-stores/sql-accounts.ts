import { randomBytes } from 'node:crypto'
import { type Connection, createConnection } from 'mysql2/promise'

/** A database of its own, and two users of it: one may change its tables, one may not. */
export interface SqlAccounts {
  /** The URL has no password. */
  readonly adminUrl: string
  readonly servingUrl: string
  drop(): Promise<void>
}

export interface Passwords {
  readonly admin: string
  readonly serving: string
}

export async function createSqlAccounts(rootUrl: string, passwords: Passwords): Promise<SqlAccounts> {
  const root = await createConnection(rootUrl)
  const name = `cli_${randomBytes(4).toString('hex')}`
  await root.query(`CREATE DATABASE ${name}`)
  await createUser(root, `${name}_admin`, passwords.admin, `ALL ON ${name}.*`)
  await createUser(root, `${name}_serving`, passwords.serving, `SELECT, INSERT, UPDATE, DELETE ON ${name}.*`)
  const { host } = new URL(rootUrl)
  return {
    adminUrl: `mysql://${name}_admin@${host}/${name}`,
    servingUrl: `mysql://${name}_serving@${host}/${name}`,
    async drop() {
      await root.query(`DROP DATABASE ${name}`)
      for (const user of ['admin', 'serving']) await root.query(`DROP USER '${name}_${user}'@'%'`)
      await root.end()
    },
  }
}

async function createUser(root: Connection, name: string, password: string, rights: string): Promise<void> {
  await root.query(`CREATE USER '${name}'@'%' IDENTIFIED BY ?`, [password])
  await root.query(`GRANT ${rights} TO '${name}'@'%'`)
}
