import { storeFreeze } from '@counterstep/store-conformance'
import { describeOn } from '@counterstep/test-servers/vitest'
import { Redis } from 'ioredis'
import { beforeAll, describe, it } from 'vitest'
import { asLeastUser, leastUserUrl } from './least-user.ts'
import { hex } from './transactions.ts'

const TIMEOUT_MS = 60_000

for (const server of ['redis', 'redis-cluster'] as const) {
  describeOn(server, 'a process that was frozen', (url) => {
    const keyPrefix = `frozen-${hex(6)}`
    const place = leastUserUrl(url, keyPrefix)
    beforeAll(() => asLeastUser(url, keyPrefix))

    async function cutConnections(): Promise<number> {
      const user = decodeURIComponent(place.slice(place.indexOf('://') + 3).split(':')[0] ?? '')
      const [, hosts = ''] = url.split('://')
      let cut = 0
      for (const host of hosts.split('/')[0]?.split(',') ?? []) {
        const admin = new Redis(`redis://${host}`, { lazyConnect: true })
        await admin.connect()
        cut += Number(await admin.call('CLIENT', 'KILL', 'USER', user))
        admin.disconnect()
      }
      return cut
    }

    storeFreeze({
      runner: {
        describe,
        it: (title, run) => it(title, { timeout: TIMEOUT_MS }, run),
      },
      name: server,
      place: {
        moduleUrl: new URL('../src/index.ts', import.meta.url).href,
        opener: 'openRedisStore',
        options: { url: place, keyPrefix },
      },
      cutConnections,
      reconnects: server === 'redis' ? 'soon' : 'one-by-one',
      report: (line) => process.stdout.write(`${line}\n`),
    })
  })
}
