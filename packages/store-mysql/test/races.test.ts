import { randomBytes } from 'node:crypto'
import { FEW_RACE_PAIRS, storeRaces } from '@counterstep/store-conformance'
import { describeOn } from '@counterstep/test-servers/vitest'
import { createConnection } from 'mysql2/promise'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { migrateMysql } from '../src/open-mysql-store.ts'

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

/** A proxy changes only the statements, and each of these races takes half a minute, so they run on one server. */
const THROUGH_A_PROXY = {
  'through a proxy that lends connections': { multiplexed: true, batchRowsMax: 7, flushesInFlightMax: 8 },
}

/** In these races the same locks decide, with one row at a time or other statements. Races of overlapping batches run in full. */
const RACED_LESS = [WITHOUT_BATCHER, ...Object.keys(THROUGH_A_PROXY)]

for (const server of ['mariadb', 'mysql'] as const) {
  describeOn(server, 'two processes on one database', (serverUrl) => {
    const places = server === 'mysql' ? { ...BATCHERS, ...THROUGH_A_PROXY } : BATCHERS
    for (const [name, options] of Object.entries(places)) {
      const database = `races_${randomBytes(6).toString('hex')}`
      const url = new URL(`/${database}`, serverUrl).href
      describe(name, () => {
        beforeAll(async () => {
          await execute(serverUrl, `CREATE DATABASE ${database}`)
          // In the other case the two processes migrate by themselves.
          if (name in THROUGH_A_PROXY) await migrateMysql({ url })
        })
        afterAll(() => execute(serverUrl, `DROP DATABASE ${database}`))
        storeRaces({
          runner: {
            describe,
            it: (title, run) => it(title, { timeout: TIMEOUT_MS }, run),
            after: (run) => afterAll(run, TIMEOUT_MS),
          },
          name: `${server}, ${name}`,
          place: {
            moduleUrl: new URL('../src/index.ts', import.meta.url).href,
            opener: 'openMysqlStore',
            options: { url, ...options },
          },
          ...(RACED_LESS.includes(name) && { pairs: FEW_RACE_PAIRS }),
          report: (line) => process.stdout.write(`${server}, ${name}, ${line}\n`),
        })
      })
    }
  })
}

async function execute(url: string, sql: string): Promise<void> {
  const connection = await createConnection(url)
  try {
    await connection.query(sql)
  } finally {
    await connection.end()
  }
}
