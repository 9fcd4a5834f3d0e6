import type { SubmitRequest } from '@counterstep/protocol'
import type { Client } from '@counterstep/sdk'

/** One running orchestrator, wherever it lives. */
export interface Home extends AsyncDisposable {
  /** Submits like the code that uses this host. */
  submit(request: SubmitRequest): Promise<void>
  /** A client of its HTTP API. */
  readonly client: Client
  /** Whether it takes new work. */
  isReady(): Promise<boolean>
  /** Nothing is given back, nothing more is said. */
  kill(): Promise<void>
  /** Stops it the way its host does. Throws if that did not go well. */
  close(): Promise<void>
}

/** A home that a saga may begin in, and end in. */
export interface HomeKind {
  readonly name: string
  /** Starts it on a database of MySQL, in which it makes its tables. All branches are at one URL. */
  start(storeUrl: string, branchesUrl: string): Promise<Home>
}

export const LEASE_MS = 1_000
export const POLL_MS = 100
