import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { memoryStore } from '../src/memory-store.ts'
import { storeConformance } from '../src/store-conformance.ts'
import { BROKEN_STORES } from './broken-stores.ts'
import { CollectingRunner } from './collecting-runner.ts'

describe('the suite', () => {
  it('passes the reference store', async () => {
    const runner = new CollectingRunner()
    storeConformance({ runner, name: 'memory', open: async ({ now }) => memoryStore({ now }) })
    assert.deepEqual(await runner.failures(), [])
  })

  for (const [fault, { caughtBy, open }] of Object.entries(BROKEN_STORES)) {
    it(`catches a store that ${fault}`, async () => {
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
