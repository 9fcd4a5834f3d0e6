import { readTreeCpuSeconds } from '../harness/cpu-time.ts'
import { readTreePssBytes } from '../harness/memory.ts'
import { copyPostgresRow } from './copy-postgres-row.ts'
import { readRows, toPostgresDatabase } from './postgres-rows.ts'
import type { StoreHost, StoreSoftware } from './store-host.ts'

export interface PostgresPlace {
  /** The superuser's URL, which names the database that each server has. */
  readonly url: string
  /** The process id of the server, when it runs for this run alone. */
  readonly pid?: () => number
  readonly end: () => Promise<void>
}

const DURABILITY = [
  'fsync',
  'full_page_writes',
  'synchronous_commit',
  'wal_sync_method',
  'commit_delay',
  'shared_buffers',
]

/** Databases on one server, dropped at the end. */
export async function postgresHost({ url, pid, end }: PostgresPlace): Promise<StoreHost> {
  const names: string[] = []
  return {
    software: await readSoftware(url),
    voidsLeasesAtOpen: false,
    newDatabase: async () => {
      const name = `counterstep_bench_${process.pid}_${names.length + 1}`
      names.push(name)
      await readRows(url, `CREATE DATABASE ${name}`)
      const database = toPostgresDatabase(url, name)
      return {
        environment: {
          COUNTERSTEP_STORE: database,
          ...(pid === undefined ? {} : { COUNTERSTEP_STORE_FAILOVER: 'none' }),
        },
        copyFinished: (copies, onCopied) => copyPostgresRow(database, copies, onCopied),
      }
    },
    ...(pid === undefined
      ? {}
      : { cpuSeconds: () => readTreeCpuSeconds(pid()), pssBytes: () => readTreePssBytes(pid()) }),
    close: async () => {
      try {
        for (const name of names) await readRows(url, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
      } finally {
        await end()
      }
    },
  }
}

async function readSoftware(url: string): Promise<StoreSoftware> {
  const [row] = await readRows(url, "SELECT current_setting('server_version') AS version")
  const settings = await readRows(
    url,
    `SELECT name, current_setting(name) AS value FROM unnest(string_to_array($1, ' ')) AS name`,
    [DURABILITY.join(' ')],
  )
  return {
    version: `PostgreSQL ${row?.version}`,
    settings: Object.fromEntries(settings.map(({ name, value }) => [String(name), String(value)])),
  }
}
