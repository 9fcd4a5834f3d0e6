import assert from 'node:assert/strict'
import type { Store } from '@counterstep/core'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { memoryStore } from '../src/memory-store.ts'
import { MODEL_STEP_MAX, type ModelStep, runAgainstModel } from '../src/model-run.ts'
import { storeConformance } from '../src/store-conformance.ts'
import { BROKEN_DOCUMENTS } from './broken-documents.ts'
import { BROKEN_POSTPONEMENTS } from './broken-postponements.ts'
import { BROKEN_STORES, type BrokenStore } from './broken-stores.ts'
import { BROKEN_TAGS } from './broken-tags.ts'
import { BROKEN_TROUBLE } from './broken-trouble.ts'
import { BROKEN_VERSIONS } from './broken-versions.ts'
import { CollectingRunner } from './collecting-runner.ts'

const FAULTS: Readonly<Record<string, BrokenStore>> = {
  ...BROKEN_STORES,
  ...BROKEN_VERSIONS,
  ...BROKEN_DOCUMENTS,
  ...BROKEN_POSTPONEMENTS,
  ...BROKEN_TROUBLE,
  ...BROKEN_TAGS,
}
const MODEL_FAULTS = [
  'ignores the token',
  'ignores the version',
  'does not know a write by its writeId',
  'judges a lease to run at its last instant',
  'ends a lease one millisecond early',
  'purges before the retention is over',
  'renews a lease that is lost',
  ...Object.keys(BROKEN_VERSIONS),
  'postpones by a claim that it gives back',
  'leaves an owner the hold of a row that it postpones',
  'names what it postpones and leaves it due',
  'postpones one millisecond early',
  'postpones one millisecond late',
  'fences a former owner when it postpones',
]

/** These faults show without an exact clock. */
const TIMELESS_MODEL_FAULTS = MODEL_FAULTS.filter((fault) => !/instant|millisecond|before/.test(fault))

const OWN_CLOCK_SPEED = 30

/** Reads a store's own clock. Its time passes by itself, much faster than ours, so that the tests wait for leases only briefly. */
function ownClock(): number {
  return Math.floor(OWN_CLOCK_SPEED * performance.now())
}

async function failsModel(open: (now: () => number) => Store): Promise<boolean> {
  const [what, gid, owner, amount] = MODEL_STEP_MAX
  const step = fc.tuple(fc.nat(what), fc.nat(gid), fc.nat(owner), fc.nat(amount))
  const steps = fc.array(step, { maxLength: 60, size: 'max' })
  const run = (tried: ModelStep[]) => runAgainstModel(async ({ now }) => open(now), 'model', tried)
  const { failed } = await fc.check(fc.asyncProperty(steps, run), { numRuns: 300, endOnFailure: true })
  return failed
}

describe('the model', () => {
  for (const fault of MODEL_FAULTS) {
    it(`The model catches a store that ${fault}`, async () => {
      const broken = FAULTS[fault]
      assert.ok(broken !== undefined)
      assert.equal(await failsModel(broken.open), true)
    })
  }

  for (const fault of TIMELESS_MODEL_FAULTS) {
    it(`The model catches a store with its own clock that ${fault}`, async () => {
      const broken = FAULTS[fault]
      assert.ok(broken !== undefined)
      assert.equal(await failsModel(() => broken.open(ownClock)), true)
    })
  }
})

describe('the suite', () => {
  it('The reference store passes the suite', async () => {
    const runner = new CollectingRunner()
    storeConformance({ runner, name: 'memory', open: async ({ now }) => memoryStore({ now }) })
    assert.deepEqual(await runner.failures(), [])
  })

  for (const [fault, { caughtBy, open }] of Object.entries(FAULTS)) {
    it(`The suite catches a store that ${fault}`, async () => {
      const runner = new CollectingRunner()
      storeConformance({ runner, name: fault, open: async ({ now }) => open(now) })
      const failures = await runner.failures()
      for (const topic of caughtBy) {
        assert.ok(
          failures.some((title) => title.startsWith(`${topic}: `)),
          `${topic} did not notice: ${failures}`,
        )
      }
    })
  }
})
