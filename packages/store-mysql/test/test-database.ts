import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import mysql from 'mysql2/promise'
import { afterAll } from 'vitest'
import { migrateMysql } from '../src/open-mysql-store.ts'

const PAGE = join(import.meta.dirname, '../../../docs/stores.md')

/** The rights in docs/stores.md and no others, with `?` for the database: the user may read and write rows. */
export function documentedGrants(): readonly string[] {
  const grants = readFileSync(PAGE, 'utf8').matchAll(
    /^GRANT (.+ ON )counterstep(\..+) TO counterstep@'%';$/gm,
  )
  return [...grants].map(([, rights, table]) => `${rights}?${table}`)
}

const PASSWORD = 'p/a:s@s %'
const HOSTS = ['%', 'localhost']

export interface TestDatabase {
  /** The administrator's URL, for what the store's user may not do. */
  readonly rootUrl: string
  /** The URL of the user who may read and write rows. */
  readonly url: string
  readonly name: string
}

/** Databases of this test file's own on a shared server, dropped with their user after the last test. */
export function testDatabases(server: string): TestDatabases {
  const databases = new TestDatabases(server)
  afterAll(() => databases.drop(), 60_000)
  return databases
}

export class TestDatabases {
  readonly #server: string
  readonly #run = randomBytes(4).toString('hex')
  readonly #names = new Set<string>()
  #user: string | undefined

  constructor(server: string) {
    this.#server = server
  }

  /** Makes a database without tables, and a user without rights on them. */
  async empty(place: string): Promise<TestDatabase> {
    const name = `cs_${this.#run}_${place}`.replaceAll('-', '_')
    if (!this.#names.has(name)) {
      await this.sql(`CREATE DATABASE ${name}`)
      this.#names.add(name)
    }
    return { name, rootUrl: withDatabase(this.#server, name), url: await this.#userUrl(name) }
  }

  /** Makes a database whose tables the administrator has made. */
  async migrated(place: string): Promise<TestDatabase> {
    const database = await this.empty(place)
    const { to, from } = await migrateMysql({ url: database.rootUrl })
    if (to > from) for (const grant of documentedGrants()) await this.grant(place, grant)
    return database
  }

  /** `?` stands for the place's database. */
  async grant(place: string, grant: string): Promise<void> {
    const { name } = await this.empty(place)
    for (const host of HOSTS) await this.sql(`GRANT ${grant.replace('?', name)} TO '${this.#user}'@'${host}'`)
  }

  async revoke(place: string, grant: string): Promise<void> {
    const { name } = await this.empty(place)
    for (const host of HOSTS)
      await this.sql(`REVOKE ${grant.replace('?', name)} FROM '${this.#user}'@'${host}'`)
  }

  /** Runs the statement as the administrator. */
  async sql(statement: string): Promise<readonly (readonly unknown[])[]> {
    const connection = await mysql.createConnection({ uri: this.#server, rowsAsArray: true })
    try {
      const [rows] = await connection.query<mysql.RowDataPacket[][]>(statement)
      return rows
    } finally {
      connection.destroy()
    }
  }

  async #userUrl(name: string): Promise<string> {
    if (this.#user === undefined) {
      this.#user = `cs_${this.#run}`
      for (const host of HOSTS)
        await this.sql(`CREATE USER '${this.#user}'@'${host}' IDENTIFIED BY '${PASSWORD}'`)
    }
    const url = new URL(withDatabase(this.#server, name))
    url.username = this.#user
    url.password = encodeURIComponent(PASSWORD)
    return url.href
  }

  async drop(): Promise<void> {
    for (const name of this.#names) await this.sql(`DROP DATABASE ${name}`)
    if (this.#user === undefined) return
    for (const host of HOSTS) await this.sql(`DROP USER '${this.#user}'@'${host}'`)
  }
}

function withDatabase(server: string, name: string): string {
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.href
}
