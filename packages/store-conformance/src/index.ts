export { memoryStore } from './memory-store.ts'
export type { ConformanceOptions, OpenRequest, Runner } from './runner.ts'
export { storeConformance } from './store-conformance.ts'
