import { storeConformance } from '@counterstep/store-conformance'
import { describeOn } from '@counterstep/test-servers/vitest'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { openPostgresStore } from '../src/open-postgres-store.ts'
import { testDatabases } from './test-database.ts'

for (const server of ['postgres', 'postgres18', 'pgbouncer'] as const) {
  describeOn(server, 'the store of a user who may read and write rows', (serverUrl) => {
    const databases = testDatabases(serverUrl)
    storeConformance({
      runner: { describe, it, before: beforeAll, after: afterAll },
      name: server,
      open: async ({ place }) =>
        openPostgresStore({
          url: (await databases.migrated(place)).url,
          multiplexed: server === 'pgbouncer',
        }),
    })
  })
}
