import { openMysqlStore } from '@counterstep/store-mysql'
import { openPostgresStore } from '@counterstep/store-postgres'
import { openRedisStore } from '@counterstep/store-redis'
import { describeOn } from '@counterstep/test-servers/vitest'
import { expect, it } from 'vitest'
import { injectEverywhere, keepsTexts } from '../../security/injection-suite.ts'
import { ownStore } from '../several-nodes/own-store.ts'

const REQUESTS_MIN = 1_000
const ACCEPTED_MIN = 200

const OPEN = {
  mariadb: openMysqlStore,
  mysql: openMysqlStore,
  postgres: openPostgresStore,
  redis: openRedisStore,
} as const

for (const server of ['mariadb', 'mysql', 'postgres', 'redis'] as const) {
  describeOn(server, 'hostile texts in requests', (serverUrl) => {
    it('S23: SQL, objects and arrays in every text field of both HTTP APIs change nothing else, and texts arrive as they were', {
      timeout: 300_000,
    }, async () => {
      const { url, drop } = await ownStore(serverUrl)
      const store = await OPEN[server]({ url })
      try {
        const { sent, accepted } = await injectEverywhere(store)
        expect(sent).toBeGreaterThan(REQUESTS_MIN)
        expect(accepted).toBeGreaterThan(ACCEPTED_MIN)
        await keepsTexts(store)
      } finally {
        await store.close()
        await drop()
      }
    })
  })
}
