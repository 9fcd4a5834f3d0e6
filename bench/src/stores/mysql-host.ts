import { readCpuSeconds } from '../harness/cpu-time.ts'
import { readTreePssBytes } from '../harness/memory.ts'
import { copyMysqlRow } from './copy-mysql-row.ts'
import { SqlLink } from './sql-link.ts'
import type { Database, StoreHost, StoreSoftware } from './store-host.ts'

export interface SqlPlace {
  /** The URL names no database. */
  readonly url: string
  /** The process id of the server, when it runs for this run alone. */
  readonly pid?: () => number
  readonly end: () => Promise<void>
}

const DURABILITY = [
  'innodb_flush_log_at_trx_commit',
  'log_bin',
  'sync_binlog',
  'innodb_flush_method',
  'innodb_buffer_pool_size',
] as const

/** Databases on one server, dropped at the end. */
export async function mysqlHost({ url, pid, end }: SqlPlace): Promise<StoreHost> {
  const link = await SqlLink.open(url)
  const names: string[] = []
  return {
    software: await readSoftware(link),
    voidsLeasesAtOpen: false,
    newDatabase: async () => {
      const name = `counterstep_bench_${process.pid}_${names.length + 1}`
      names.push(name)
      await link.run(`CREATE DATABASE ${name}`)
      return mysqlDatabase(link, toDatabaseUrl(url, name), name, pid !== undefined)
    },
    ...(pid === undefined
      ? {}
      : { cpuSeconds: () => readCpuSeconds(pid()), pssBytes: () => readTreePssBytes(pid()) }),
    close: async () => {
      try {
        for (const name of names) await link.run(`DROP DATABASE IF EXISTS ${name}`)
        await link.close()
      } finally {
        await end()
      }
    },
  }
}

function mysqlDatabase(link: SqlLink, url: string, name: string, isOwn: boolean): Database {
  return {
    environment: {
      COUNTERSTEP_STORE: url,
      // Its binary log alone would let the store think of replicas.
      ...(isOwn ? { COUNTERSTEP_STORE_FAILOVER: 'none' } : {}),
    },
    copyFinished: (copies, onCopied) => copyMysqlRow(link, name, copies, onCopied),
  }
}

async function readSoftware(link: SqlLink): Promise<StoreSoftware> {
  const [row] = await link.rows('SELECT VERSION() AS version')
  const version = String(row?.version)
  const make = version.includes('MariaDB') ? 'MariaDB' : 'MySQL'
  return { version: `${make} ${version}`, settings: await link.globals('VARIABLES', DURABILITY) }
}

export function toDatabaseUrl(server: string, database: string): string {
  const url = new URL(server)
  url.pathname = `/${database}`
  return url.href
}
