import { storeConformance } from '@counterstep/store-conformance'
import { describeOn } from '@counterstep/test-servers/vitest'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { openRedisStore } from '../src/open-redis-store.ts'
import { asLeastUser } from './least-user.ts'

for (const server of ['redis', 'redis-cluster'] as const) {
  describeOn(server, 'the contract', (url) => {
    storeConformance({
      runner: { describe, it, before: beforeAll, after: afterAll },
      name: server,
      open: async ({ place }) => {
        const keyPrefix = `conformance-${place}`
        return openRedisStore({ url: await asLeastUser(url, keyPrefix), keyPrefix })
      },
    })
  })
}
