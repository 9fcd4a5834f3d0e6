import type { BranchId, Gid, Kind, Op, Result } from '@counterstep/protocol'
import type { Definition } from '../definition.ts'

/** One call to a branch. The caller adds nothing to its meaning: one attempt, no retry of its own. */
export interface BranchCall {
  readonly gid: Gid
  readonly kind: Kind
  readonly branchId: BranchId
  readonly op: Op
  /** 1 for the first. */
  readonly attempt: number
  readonly epoch: number
  /** When the transaction was accepted, by the store's clock. */
  readonly acceptedAt: number
  /** GET where there is no body. */
  readonly method: 'GET' | 'POST'
  readonly url: string
  readonly body: string
  readonly contentType: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** From the start of the call to the last byte of the answer. */
  readonly timeoutMs: number
  /** The words ONGOING and FAILURE in the answer's body count, whatever its status. */
  readonly wordsCount: boolean
}

export interface BranchAnswer {
  readonly result: Result
  readonly statusCode?: number
  /** At most ANSWER_BYTES_MAX bytes of the body, as text. */
  readonly excerpt?: string
  /** A short stable word when there is no status, e.g. `timeout`, `refused`; never an address or a secret. */
  readonly error?: string
  /** What the branch asked for with Retry-After, if it did. */
  readonly retryAfterMs?: number
}

export interface BranchCaller {
  /** Never rejects: what goes wrong is an `unknown` answer. Ends within `timeoutMs`. */
  call(call: BranchCall): Promise<BranchAnswer>
  /** Ends what is still in flight as `unknown`, and closes the connections. */
  close(): Promise<void>
}

/**
 * Whether a call of a stored transaction must not be made, asked before each call. A short stable word says why: nothing
 * is sent, and the answer is `unknown` with that word. It is for what an older version accepted and cannot call rightly.
 */
export type RefuseCall = (definition: Definition, url: string) => string | undefined

/** The origin at which a stored branch URL is called, in one spelling. Undefined: it may not be called. */
export type FindOrigin = (url: string) => string | undefined

/** Milliseconds that only go forward, from an origin of their own. */
export interface Clock {
  now(): number
  /** Calls back once, not before `delayMs`; returns how to take it back. */
  after(delayMs: number, callback: () => void): () => void
}

export interface Ids {
  /** 128 random bits, 32 lower-case hex digits. */
  token(): string
  writeId(): string
  gid(): Gid
  /** Uniform in [0, 1). */
  jitter(): number
}

/** A later look at a transaction that nobody runs. */
export interface Look {
  readonly gid: Gid
  /** From now. */
  readonly dueInMs: number
}

/** Asks for later looks where no process goes on. Only a hint: one that is lost, early or doubled changes nothing but the time. */
export interface WakeUp {
  /** Rejects when the request may be lost. */
  ask(looks: readonly Look[]): Promise<void>
}
