import type { Store } from '@counterstep/core'

/** The part of a test runner that the suite needs. Vitest and node:test both have it. */
export interface Runner {
  readonly describe: (name: string, define: () => void) => unknown
  readonly it: (name: string, run: () => Promise<void>) => unknown
  readonly before: (run: () => Promise<void>) => unknown
  readonly after: (run: () => Promise<void>) => unknown
}

export interface OpenRequest {
  /** The suite's clock. A store that takes a clock uses it, and a store with a server's clock ignores it. */
  readonly now: () => number
  /** A name of a-z, 0-9 and -. The same place is the same database, and a new place is an empty one. */
  readonly place: string
}

export interface ConformanceOptions {
  readonly runner: Runner
  readonly name: string
  readonly open: (request: OpenRequest) => Promise<Store>
}
