import { FEW_RACE_PAIRS, storeRaces } from '@counterstep/store-conformance'
import { describeOn } from '@counterstep/test-servers/vitest'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { testDatabases } from './test-database.ts'

const TIMEOUT_MS = 120_000
const WITHOUT_BATCHER = 'the batcher off'
const BATCHERS = {
  'the batcher on': {},
  [WITHOUT_BATCHER]: { batchRowsMax: 1, flushesInFlightMax: 8, flushPatienceMs: 0, connectionsMax: 16 },
  // Many small batches with overlapping rows make deadlocks.
  'small batches, many at once': {
    batchRowsMax: 7,
    flushesInFlightMax: 8,
    flushPatienceMs: 0,
    connectionsMax: 16,
  },
}
const THROUGH_A_POOLER = {
  'through a pooler': { multiplexed: true, batchRowsMax: 7, flushesInFlightMax: 8 },
}
const PLACES = {
  postgres: BATCHERS,
  postgres18: { 'the batcher on': {} },
  pgbouncer: THROUGH_A_POOLER,
} as const
/** The races of overlapping batches run in full on one server. In the others the same locks decide. */
const isRacedLess = (server: string, name: string) => server !== 'postgres' || name === WITHOUT_BATCHER

for (const [server, places] of Object.entries(PLACES)) {
  describeOn(server as keyof typeof PLACES, 'two processes on one database', (serverUrl) => {
    const databases = testDatabases(serverUrl)
    for (const [i, [name, options]] of Object.entries(places).entries()) {
      const place = { url: '', ...options }
      describe(name, () => {
        beforeAll(async () => {
          place.url = (await databases.migrated(`races-${i}`)).url
        })
        storeRaces({
          runner: {
            describe,
            it: (title, run) => it(title, { timeout: TIMEOUT_MS }, run),
            after: (run) => afterAll(run, TIMEOUT_MS),
          },
          name: `${server}, ${name}`,
          place: {
            moduleUrl: new URL('../src/index.ts', import.meta.url).href,
            opener: 'openPostgresStore',
            options: place,
          },
          ...(isRacedLess(server, name) && { pairs: FEW_RACE_PAIRS }),
          report: (line) => process.stdout.write(`${server}, ${name}, ${line}\n`),
        })
      })
    }
  })
}
