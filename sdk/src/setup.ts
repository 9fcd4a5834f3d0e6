import type { Transport } from './transport.ts'

/** What the calls of one client share. */
export interface Setup {
  readonly send: Transport
  readonly timeoutMs: number
  readonly retryForMs: number
}
