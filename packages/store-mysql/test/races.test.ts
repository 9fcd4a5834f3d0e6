import { randomBytes } from 'node:crypto'
import { storeRaces } from '@counterstep/store-conformance'
import { describeOn } from '@counterstep/test-servers/vitest'
import { createConnection } from 'mysql2/promise'
import { afterAll, beforeAll, describe, it } from 'vitest'

const TIMEOUT_MS = 120_000
const BATCHERS = {
  'the batcher on': {},
  'the batcher off': { batchRowsMax: 1, flushesInFlightMax: 8, flushPatienceMs: 0, connectionsMax: 16 },
  // Many small batches whose rows overlap: what deadlocks are made of.
  'small batches, many at once': {
    batchRowsMax: 7,
    flushesInFlightMax: 8,
    flushPatienceMs: 0,
    connectionsMax: 16,
  },
}

for (const server of ['mariadb', 'mysql'] as const) {
  describeOn(server, 'two processes on one database', (serverUrl) => {
    for (const [name, options] of Object.entries(BATCHERS)) {
      const database = `races_${randomBytes(6).toString('hex')}`
      const url = new URL(`/${database}`, serverUrl).href
      describe(name, () => {
        beforeAll(() => execute(serverUrl, `CREATE DATABASE ${database}`))
        afterAll(() => execute(serverUrl, `DROP DATABASE ${database}`))
        storeRaces({
          runner: {
            describe,
            it: (title, run) => it(title, { timeout: TIMEOUT_MS }, run),
          },
          name: `${server}, ${name}`,
          place: {
            moduleUrl: new URL('../src/index.ts', import.meta.url).href,
            opener: 'openMysqlStore',
            options: { url, ...options },
          },
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
