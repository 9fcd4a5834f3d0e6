import assert from 'node:assert/strict'
import { afterAll, describe, it } from 'vitest'
import { memoryStore } from '../src/memory-store.ts'
import { FEW_RACE_PAIRS } from '../src/pair-race.ts'
import type { StorePlace } from '../src/race-messages.ts'
import { storeRaces } from '../src/race-suite.ts'
import { BROKEN_RACES, type Route, routeTo } from './broken-races.ts'
import { CollectingRunner } from './collecting-runner.ts'
import { StoreServer } from './served-store.ts'

const TIMEOUT_MS = 120_000

const server = new StoreServer(routeTo(memoryStore()))
const port = await server.listen()
afterAll(() => server.close())

const races: string[] = []
storeRaces({
  runner: {
    describe,
    it: (title, run) => it(title, { timeout: TIMEOUT_MS }, run),
    after: (run) => afterAll(run, TIMEOUT_MS),
  },
  name: 'the memory store, served to two processes',
  place: placeAt(port),
  report: (line) => races.push(line),
})

it('Each race of a store tells what it measured', () => {
  assert.equal(races.length, 5)
  for (const line of races)
    assert.match(line, /1000 rows, won \d+ and \d+, \d+ % of \d+ pairs in flight at once/)
})

describe('the races', () => {
  for (const [fault, { caughtBy, because, route }] of Object.entries(BROKEN_RACES)) {
    it(`The races catch a store that ${fault}`, { timeout: TIMEOUT_MS }, async () => {
      const failures = await collectFailures(route(), caughtBy)
      assert.equal(failures.length, 1)
      assert.match(failures.join(), because)
    })
  }
})

function placeAt(port: number): StorePlace {
  const moduleUrl = new URL('./open-served-store.ts', import.meta.url).href
  return { moduleUrl, opener: 'openServedStore', options: { port } }
}

/** Runs the tests with this word in their titles, and returns the errors. */
async function collectFailures(route: Route, word: string): Promise<readonly string[]> {
  const broken = new StoreServer(route)
  const place = placeAt(await broken.listen())
  const runner = new CollectingRunner()
  storeRaces({ runner, name: 'broken', place, pairs: FEW_RACE_PAIRS, report: () => undefined })
  try {
    return await runner.failures(word)
  } finally {
    await broken.close()
  }
}
