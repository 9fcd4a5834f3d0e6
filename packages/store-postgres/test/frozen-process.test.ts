import { storeFreeze } from '@counterstep/store-conformance'
import { describeOn } from '@counterstep/test-servers/vitest'
import { beforeAll, describe, expect, it } from 'vitest'
import { testDatabases } from './test-database.ts'

const TIMEOUT_MS = 60_000

for (const server of ['postgres', 'postgres18'] as const) {
  describeOn(server, 'a process that was frozen', (serverUrl) => {
    const databases = testDatabases(serverUrl)
    const options = { url: '' }
    let user = ''
    beforeAll(async () => {
      const schema = await databases.migrated('frozen')
      options.url = schema.url
      user = schema.name
    })

    async function connections(): Promise<readonly unknown[]> {
      const rows = await databases.sql(`SELECT pid FROM pg_stat_activity WHERE usename = '${user}'`)
      return rows.map(([pid]) => pid)
    }

    storeFreeze({
      runner: {
        describe,
        it: (title, run) => it(title, { timeout: TIMEOUT_MS }, run),
      },
      name: server,
      place: {
        moduleUrl: new URL('../src/index.ts', import.meta.url).href,
        opener: 'openPostgresStore',
        options,
      },
      cutConnections: async () => {
        const pids = await connections()
        for (const pid of pids) await databases.sql(`SELECT pg_terminate_backend(${Number(pid)})`)
        await expect.poll(connections, { timeout: 5_000 }).toEqual([])
        return pids.length
      },
      reconnects: 'at-once',
      report: (line) => process.stdout.write(`${line}\n`),
    })
  })
}
