import { randomBytes } from 'node:crypto'
import { type Connection, createConnection } from 'mysql2/promise'
import { Client, escapeLiteral } from 'pg'

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

export function createSqlAccounts(rootUrl: string, passwords: Passwords): Promise<SqlAccounts> {
  const isPostgres = rootUrl.startsWith('postgres:')
  return isPostgres ? createPostgresAccounts(rootUrl, passwords) : createMysqlAccounts(rootUrl, passwords)
}

async function createMysqlAccounts(rootUrl: string, passwords: Passwords): Promise<SqlAccounts> {
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

/** The tables that the administrator is going to make are the other user's to read and to write from their beginning. */
async function createPostgresAccounts(rootUrl: string, passwords: Passwords): Promise<SqlAccounts> {
  const name = `cli_${randomBytes(4).toString('hex')}`
  const [admin, serving] = [`${name}_admin`, `${name}_serving`]
  const { host } = new URL(rootUrl)
  const runSql = async (url: string, statements: readonly string[]) => {
    const client = new Client({ connectionString: url })
    await client.connect()
    try {
      for (const sql of statements) await client.query(sql)
    } finally {
      await client.end()
    }
  }
  await runSql(rootUrl, [
    `CREATE ROLE ${admin} LOGIN PASSWORD ${escapeLiteral(passwords.admin)}`,
    `CREATE ROLE ${serving} LOGIN PASSWORD ${escapeLiteral(passwords.serving)}`,
    `CREATE DATABASE ${name} OWNER ${admin}`,
  ])
  await runSql(rootUrl.replace(/\/postgres$/, `/${name}`), [
    `ALTER DEFAULT PRIVILEGES FOR ROLE ${admin} GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO ${serving}`,
  ])
  return {
    adminUrl: `postgres://${admin}@${host}/${name}`,
    servingUrl: `postgres://${serving}@${host}/${name}`,
    drop: () =>
      runSql(rootUrl, [`DROP DATABASE ${name} WITH (FORCE)`, `DROP ROLE ${admin}`, `DROP ROLE ${serving}`]),
  }
}
