import type { Transport } from './transport.ts'

/** What the calls of one client share. */
export interface Setup {
  readonly send: Transport
  /** For calls of branches, which get none of the client's headers. */
  readonly fetch: typeof globalThis.fetch
  readonly timeoutMs: number
  readonly retryForMs: number
}
