import type { SubmitRequest } from '@counterstep/protocol'
import type { Client } from '@counterstep/sdk'

/** One running orchestrator on one kind of host. */
export interface Host extends AsyncDisposable {
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

/** A host that a saga may begin at, and end at. */
export interface HostKind {
  readonly name: string
  /** Starts it on a database of MySQL, in which it makes its tables. All branches are at one URL. */
  start(storeUrl: string, branchesUrl: string): Promise<Host>
}

export const LEASE_MS = 1_000
export const POLL_MS = 100
