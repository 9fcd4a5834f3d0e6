import { afterAll, beforeAll, describe, it } from 'vitest'
import { memoryStore } from '../src/memory-store.ts'
import { storeConformance } from '../src/store-conformance.ts'

storeConformance({
  runner: { describe, it, before: beforeAll, after: afterAll },
  name: 'memory',
  open: async ({ now }) => memoryStore({ now }),
})
