import { storeConformance } from '@counterstep/store-conformance'
import { describeOn } from '@counterstep/test-servers/vitest'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { openRedisStore } from '../src/open-redis-store.ts'

for (const server of ['redis', 'redis-cluster'] as const) {
  describeOn(server, 'the contract', (url) => {
    storeConformance({
      runner: { describe, it, before: beforeAll, after: afterAll },
      name: server,
      open: ({ place }) => openRedisStore({ url, keyPrefix: `conformance-${place}` }),
    })
  })
}
