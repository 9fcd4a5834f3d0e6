import { randomBytes } from 'node:crypto'
import { storeRaces } from '@counterstep/store-conformance'
import { describeOn } from '@counterstep/test-servers/vitest'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { asLeastUser, leastUserUrl } from './least-user.ts'

const TIMEOUT_MS = 120_000

// Writes that come together share a script, and no script of another process runs in between.
for (const server of ['redis', 'redis-cluster'] as const) {
  describeOn(server, 'two processes on one Redis', (url) => {
    const keyPrefix = `races-${randomBytes(6).toString('hex')}`
    beforeAll(() => asLeastUser(url, keyPrefix))

    storeRaces({
      runner: {
        describe,
        it: (title, run) => it(title, { timeout: TIMEOUT_MS }, run),
        after: (run) => afterAll(run, TIMEOUT_MS),
      },
      name: server,
      place: {
        moduleUrl: new URL('../src/index.ts', import.meta.url).href,
        opener: 'openRedisStore',
        options: { url: leastUserUrl(url, keyPrefix), keyPrefix },
      },
      report: (line) => process.stdout.write(`${server}, ${line}\n`),
    })
  })
}
