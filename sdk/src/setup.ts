import type { Transport } from './transport.ts'

/** What the calls of one client share. */
export interface Setup {
  readonly send: Transport
  /** How many servers `send` may go on to. */
  readonly serverCount: number
  /** For calls of branches, which get none of the client's headers. */
  readonly fetch: typeof globalThis.fetch
  /** Of an answer of the server, and of a branch to its try. */
  readonly answerBytesMax: number
  readonly timeoutMs: number
  readonly retryForMs: number
}
