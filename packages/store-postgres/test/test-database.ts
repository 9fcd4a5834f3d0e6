import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { afterAll } from 'vitest'
import { migratePostgres } from '../src/open-postgres-store.ts'

const PASSWORD = 'p/a:s@s %'

/** The rights that the store's user needs, and no others. */
const GRANTS = [
  'SELECT, INSERT, UPDATE, DELETE ON counterstep_transactions',
  'SELECT, INSERT, UPDATE, DELETE ON counterstep_documents',
  'SELECT, INSERT, DELETE ON counterstep_tags',
  'SELECT ON counterstep_schema',
]

/** A schema of its own, which is the whole database for its two users. A database of its own would cost a checkpoint. */
export interface TestSchema {
  /** The URL of the user who owns the schema and may make tables there. */
  readonly ownerUrl: string
  /** The URL of the user who may read and write rows. */
  readonly url: string
  readonly name: string
}

/** Schemas of this test file's own on a shared server, dropped with their users after the last test. */
export function testDatabases(server: string): TestDatabases {
  const databases = new TestDatabases(server)
  afterAll(() => databases.drop(), 60_000)
  return databases
}

export class TestDatabases {
  readonly #server: string
  readonly #run = randomBytes(4).toString('hex')
  readonly #schemas = new Map<string, Promise<TestSchema>>()
  readonly #migrated = new Map<string, Promise<TestSchema>>()
  #database: Promise<string> | undefined

  constructor(server: string) {
    this.#server = server
  }

  /** Makes a schema without tables, and a user without rights on them. */
  empty(place: string): Promise<TestSchema> {
    return getOnce(this.#schemas, place, async () => {
      const database = await this.#createDatabase()
      const name = `cs_${this.#run}_${place}`.replaceAll('-', '_')
      for (const user of [name, `${name}_owner`]) {
        await this.sql(`CREATE ROLE ${user} LOGIN PASSWORD '${PASSWORD}'`)
        await this.sql(`ALTER ROLE ${user} SET search_path = ${name}`)
      }
      await this.sql(`CREATE SCHEMA ${name} AUTHORIZATION ${name}_owner`, database)
      await this.sql(`GRANT USAGE ON SCHEMA ${name} TO ${name}`, database)
      return { name, ownerUrl: withUser(database, `${name}_owner`), url: withUser(database, name) }
    })
  }

  /** Makes a schema whose tables its owner has made. */
  migrated(place: string): Promise<TestSchema> {
    return getOnce(this.#migrated, place, async () => {
      const schema = await this.empty(place)
      await migratePostgres({ url: schema.ownerUrl })
      for (const grant of GRANTS) await this.sql(`GRANT ${grant} TO ${schema.name}`, schema.ownerUrl)
      return schema
    })
  }

  /** Runs the statement, by default as the server's administrator. */
  async sql(statement: string, url = this.#server): Promise<readonly (readonly unknown[])[]> {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    try {
      return (await client.query({ text: statement, rowMode: 'array' })).rows
    } finally {
      await client.end()
    }
  }

  async drop(): Promise<void> {
    if (this.#database === undefined) return
    await this.#database
    await this.sql(`DROP DATABASE cs_${this.#run} WITH (FORCE)`)
    for (const schema of this.#schemas.values()) {
      const { name } = await schema
      await this.sql(`DROP ROLE ${name}, ${name}_owner`)
    }
  }

  /** Makes the database with the server's own collation, so that a key that is not compared by its bytes is seen. */
  #createDatabase(): Promise<string> {
    this.#database ??= (async () => {
      await this.sql(`CREATE DATABASE cs_${this.#run} TEMPLATE template0 ENCODING 'UTF8'`)
      const url = new URL(this.#server)
      url.pathname = `/cs_${this.#run}`
      return url.href
    })()
    return this.#database
  }
}

function getOnce<T>(made: Map<string, Promise<T>>, place: string, make: () => Promise<T>): Promise<T> {
  const promise = made.get(place) ?? make()
  made.set(place, promise)
  return promise
}

function withUser(database: string, user: string): string {
  const url = new URL(database)
  url.username = user
  url.password = encodeURIComponent(PASSWORD)
  return url.href
}
