import type { Store } from '@counterstep/core'

/** What the suite needs of a test runner; Vitest and node:test both fit. */
export interface Runner {
  readonly describe: (name: string, define: () => void) => unknown
  readonly it: (name: string, run: () => Promise<void>) => unknown
  readonly before: (run: () => Promise<void>) => unknown
  readonly after: (run: () => Promise<void>) => unknown
}

export interface OpenRequest {
  /** The suite's clock. A store whose clock is injected takes it; a store with a server's clock leaves it. */
  readonly now: () => number
  /** A name of a-z, 0-9 and -: the same place is the same database, a new place is an empty one. */
  readonly place: string
}

export interface ConformanceOptions {
  readonly runner: Runner
  readonly name: string
  readonly open: (request: OpenRequest) => Promise<Store>
}
