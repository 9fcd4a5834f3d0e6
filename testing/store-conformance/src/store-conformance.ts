import { claimSuite } from './claim-suite.ts'
import { closeSuite } from './close-suite.ts'
import { concurrencySuite } from './concurrency-suite.ts'
import { createSuite } from './create-suite.ts'
import { documentRaceSuite } from './document-race-suite.ts'
import { documentSuite } from './document-suite.ts'
import { holdSuite } from './hold-suite.ts'
import { listSuite } from './list-suite.ts'
import { payloadSuite } from './payload-suite.ts'
import { postponeSuite } from './postpone-suite.ts'
import { purgeSuite } from './purge-suite.ts'
import { renewSuite } from './renew-suite.ts'
import type { ConformanceOptions } from './runner.ts'
import { statsSuite } from './stats-suite.ts'
import { type DefineTest, TestBed } from './store-fixture.ts'
import { updateSuite } from './update-suite.ts'

const SUITES: Readonly<Record<string, (test: DefineTest) => void>> = {
  create: createSuite,
  update: updateSuite,
  hold: holdSuite,
  claim: claimSuite,
  renew: renewSuite,
  postpone: postponeSuite,
  list: listSuite,
  purge: purgeSuite,
  stats: statsSuite,
  payload: payloadSuite,
  concurrency: concurrencySuite,
  documents: documentSuite,
  'document races': documentRaceSuite,
  close: closeSuite,
}

/** Defines the contract's tests for one store. Each test opens its own place. */
export function storeConformance({ runner, name, open }: ConformanceOptions): void {
  const { describe, it, before, after } = runner
  const run = Date.now().toString(36)
  const beds = new Set<TestBed>()
  let places = 0
  describe(`store contract: ${name}`, () => {
    before(async () => {
      // A store that cannot be opened fails here once, and not in each test.
      await new TestBed(open, `${run}-first`).openAndClose()
    })
    after(async () => {
      for (const bed of beds) await bed.close()
    })
    for (const [topic, define] of Object.entries(SUITES)) {
      describe(topic, () => {
        define((title, test) => {
          places += 1
          const place = `${run}-${places}`
          it(title, async () => {
            const bed = new TestBed(open, place)
            beds.add(bed)
            await test(await bed.open(), bed)
            await bed.close()
            beds.delete(bed)
          })
        })
      })
    }
  })
}
