import type { Transport } from './transport.ts'

/** The setup that all calls of one client share. */
export interface Setup {
  readonly send: Transport
  /** Says how many servers `send` may go on to. */
  readonly serverCount: number
  /** Calls the branches, which get none of the client's headers. */
  readonly fetch: typeof globalThis.fetch
  /** The bound of a server's answer, and of a branch's answer to its try. */
  readonly answerBytesMax: number
  readonly timeoutMs: number
  readonly retryForMs: number
}
