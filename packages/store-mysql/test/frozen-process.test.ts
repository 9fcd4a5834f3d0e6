import { storeFreeze } from '@counterstep/store-conformance'
import { describeOn } from '@counterstep/test-servers/vitest'
import { beforeAll, describe, expect, it } from 'vitest'
import { testDatabases } from './test-database.ts'

const TIMEOUT_MS = 60_000

for (const server of ['mariadb', 'mysql'] as const) {
  describeOn(server, 'a process that was frozen', (serverUrl) => {
    const databases = testDatabases(serverUrl)
    const options = { url: '' }
    let name = ''
    beforeAll(async () => {
      const database = await databases.migrated('frozen')
      options.url = database.url
      name = database.name
    })

    async function connections(): Promise<readonly unknown[]> {
      const rows = await databases.sql(
        `SELECT ID FROM information_schema.PROCESSLIST WHERE DB = '${name}' AND ID <> CONNECTION_ID()`,
      )
      return rows.map(([id]) => id)
    }

    storeFreeze({
      runner: {
        describe,
        it: (title, run) => it(title, { timeout: TIMEOUT_MS }, run),
      },
      name: server,
      place: {
        moduleUrl: new URL('../src/index.ts', import.meta.url).href,
        opener: 'openMysqlStore',
        options,
      },
      cutConnections: async () => {
        const ids = await connections()
        for (const id of ids) await databases.sql(`KILL CONNECTION ${Number(id)}`)
        await expect.poll(connections, { timeout: 5_000 }).toEqual([])
        return ids.length
      },
      reconnects: 'at-once',
      report: (line) => process.stdout.write(`${line}\n`),
    })
  })
}
