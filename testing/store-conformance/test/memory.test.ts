import { afterAll, beforeAll, describe, it } from 'vitest'
import { memoryStore } from '../src/memory-store.ts'
import { storeConformance } from '../src/store-conformance.ts'
import { serverLikeStore } from './server-like-store.ts'

const runner = { describe, it, before: beforeAll, after: afterAll }

storeConformance({ runner, name: 'memory', open: async ({ now }) => memoryStore({ now }) })

// As a database server does, it lives by its own clock: the suite must wait instead of moving one.
storeConformance({ runner, name: 'memory with its own clock', open: async () => memoryStore() })

// Versions that jump and finished rows that are gone at their purge instant, before anybody purges.
storeConformance({ runner, name: 'memory with the freedom of a server', open: async () => serverLikeStore() })
