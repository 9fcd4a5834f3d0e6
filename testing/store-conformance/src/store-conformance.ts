import { claimSuite } from './claim-suite.ts'
import { closeSuite } from './close-suite.ts'
import { concurrencySuite } from './concurrency-suite.ts'
import { createSuite } from './create-suite.ts'
import { documentRaceSuite } from './document-race-suite.ts'
import { documentSuite } from './document-suite.ts'
import { dueOrderSuite } from './due-order-suite.ts'
import { foundBySuite } from './found-by-suite.ts'
import { holdSuite } from './hold-suite.ts'
import { listFilterSuite } from './list-filter-suite.ts'
import { listSuite } from './list-suite.ts'
import { payloadSuite } from './payload-suite.ts'
import { postponeSuite } from './postpone-suite.ts'
import { purgeSuite } from './purge-suite.ts'
import { renewSuite } from './renew-suite.ts'
import type { ConformanceOptions } from './runner.ts'
import { statsSuite } from './stats-suite.ts'
import { type DefineTest, StoreFixture } from './store-fixture.ts'
import { tagSuite } from './tag-suite.ts'
import { updateSuite } from './update-suite.ts'

const SUITES: Readonly<Record<string, (test: DefineTest) => void>> = {
  create: createSuite,
  update: updateSuite,
  hold: holdSuite,
  claim: claimSuite,
  renew: renewSuite,
  postpone: postponeSuite,
  'found by': foundBySuite,
  list: listSuite,
  'list filters': listFilterSuite,
  tags: tagSuite,
  'due order': dueOrderSuite,
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
  const fixtures = new Set<StoreFixture>()
  let places = 0
  describe(`store contract: ${name}`, () => {
    before(async () => {
      // A store that cannot be opened fails here once, and not in each test.
      await new StoreFixture(open, `${run}-first`).openAndClose()
    })
    after(async () => {
      for (const fixture of fixtures) await fixture.close()
    })
    for (const [topic, define] of Object.entries(SUITES)) {
      describe(topic, () => {
        define((title, test) => {
          places += 1
          const place = `${run}-${places}`
          it(title, async () => {
            const fixture = new StoreFixture(open, place)
            fixtures.add(fixture)
            await test(await fixture.open(), fixture)
            await fixture.close()
            fixtures.delete(fixture)
          })
        })
      })
    }
  })
}
