import { afterAll, beforeAll, describe, it } from 'vitest'
import { memoryStore } from '../src/memory-store.ts'
import { storeConformance } from '../src/store-conformance.ts'
import { serverLikeStore } from './server-like-store.ts'

const runner = { describe, it, before: beforeAll, after: afterAll }

storeConformance({ runner, name: 'memory', open: async ({ now }) => memoryStore({ now }) })

// This store has its own clock like a database server, so the suite must wait and cannot move the clock.
storeConformance({ runner, name: 'memory with its own clock', open: async () => memoryStore() })

// In this store versions jump, and finished rows disappear at their purge time before any purge.
storeConformance({ runner, name: 'memory with the freedom of a server', open: async () => serverLikeStore() })
