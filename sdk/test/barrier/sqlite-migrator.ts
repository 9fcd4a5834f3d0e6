import { DatabaseSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'
import { checkBarrier, migrateBarrier } from '../../src/barrier/sqlite.ts'
import { BetterSqlite3Twin } from './better-sqlite3-twin.ts'

/** One of several instances of a service that start at once, in a thread of its own: it makes and checks each table. */
const { path, driver, tables } = workerData as {
  readonly path: string
  readonly driver: 'better-sqlite3' | 'node:sqlite'
  readonly tables: readonly string[]
}

// Each waits for locks as it does by default: node:sqlite for none.
const database = driver === 'node:sqlite' ? new DatabaseSync(path) : new BetterSqlite3Twin(path)
const [standard] = database.prepare('PRAGMA busy_timeout').all() as { readonly timeout?: number }[]
database.exec('PRAGMA busy_timeout = 5000; PRAGMA synchronous = EXTRA')
database.exec(`PRAGMA busy_timeout = ${standard?.timeout}`)
for (const table of tables) {
  migrateBarrier(database, { table })
  checkBarrier(database, { table })
}
const [{ timeout } = {}] = database.prepare('PRAGMA busy_timeout').all() as { readonly timeout?: number }[]
database.close()
parentPort?.postMessage(timeout)
