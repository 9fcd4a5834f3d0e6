import { startPostgres } from '@counterstep/test-servers'
import { readTreeCpuSeconds } from '../harness/cpu-time.ts'
import type { Harness } from '../harness/harness.ts'
import { isInMemory } from '../report/machine.ts'
import type { Worker } from '../rounds.ts'
import { readRows, toPostgresDatabase } from '../stores/postgres-rows.ts'

/** A private PostgreSQL for the databases of services. The environment's own one is not used: its CPU time is not known. */
export interface OwnPostgres {
  readonly version: string
  /** Its files lie in memory, where a commit costs next to nothing. */
  readonly isInMemory: boolean
  readonly worker: Worker
  /** Makes a database, and returns its URL. */
  newDatabase(name: string): Promise<string>
}

export async function openOwnPostgres(harness: Harness): Promise<OwnPostgres> {
  const server = await startPostgres()
  harness.atEnd(() => server.stop())
  const [row] = await readRows(server.url, 'SHOW data_directory')
  return {
    version: server.version,
    isInMemory: isInMemory(String(row?.data_directory)),
    worker: { name: 'database', cpuSeconds: () => readTreeCpuSeconds(server.pid()) },
    async newDatabase(name) {
      await readRows(server.url, `CREATE DATABASE ${name}`)
      return toPostgresDatabase(server.url, name)
    },
  }
}
