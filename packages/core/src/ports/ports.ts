import type { BranchId, Gid, Kind, Op, Result } from '@counterstep/protocol'
import type { Definition, TraceContext } from '../definition.ts'

/** One call to a branch. The caller makes one attempt and never retries by itself. */
export interface BranchCall {
  readonly gid: Gid
  readonly kind: Kind
  readonly branchId: BranchId
  readonly op: Op
  /** It stands in the URL in place of the op. Any text may. */
  readonly opInUrl?: string
  /** The first attempt is 1. */
  readonly attempt: number
  readonly epoch: number
  /** When the transaction was accepted, by the store's clock. */
  readonly acceptedAt: number
  /** It is GET where there is no body. */
  readonly method: 'GET' | 'POST'
  readonly url: string
  readonly body: string
  readonly contentType: string
  /** The names are in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** The limit runs from the start of the call to the last byte of the answer. */
  readonly timeoutMs: number
  /** The word ONGOING or FAILURE in the body of the answer decides its result, whatever its status. */
  readonly wordsCount: boolean
  /** Nothing will undo the call, so that its service has to keep a refusal. */
  readonly hasNoUndo?: true
  /** The call undoes an action that was answered with success, so that there is surely something to undo. */
  readonly mustUndo?: true
  /** The body goes into an envelope of JSON-RPC, and the answer comes out of one. */
  readonly isJsonRpc?: true
  /**
   * The answer must carry the whole body if the body has at most this number of bytes. Absent: an excerpt is enough.
   */
  readonly bodyBytesKept?: number
  /** The call hands this on under a new span id, if it has no `traceparent` of its own. */
  readonly trace?: TraceContext
  /** The span of the call itself, which goes before `trace`. It is handed on as it is. */
  readonly span?: TraceContext
  /**
   * Tells whether the call may still be sent. The caller asks when the call has waited for a connection, and answers NOT_SENT
   * if it may not. Absent: it may.
   */
  readonly mayBegin?: () => boolean
  /**
   * Is called when the call is ended while code of this process goes on with it, as a function may after its deadline. The
   * promise resolves when that code has ended, or after a minute.
   */
  readonly onOverrun?: (ended: Promise<void>) => void
}

export interface BranchAnswer {
  readonly result: Result
  readonly statusCode?: number
  /** The body as text, at most ANSWER_BYTES_MAX bytes of it. */
  readonly excerpt?: string
  /**
   * The whole body of a success or a failure as text, where the call asked for it. It is absent if the body is longer, is
   * packed in a way that is not read, did not come whole or is not UTF-8.
   */
  readonly body?: string
  /**
   * A short stable word when there is no status, for instance `timeout` or
   * `refused`. It is never an address or a secret.
   */
  readonly error?: string
  /** The wait that the branch asked for with Retry-After, if it did. */
  readonly retryAfterMs?: number
}

export interface BranchCaller {
  /** Makes the call. It never rejects, because every error is an `unknown` answer, and it ends within `timeoutMs`. */
  call(call: BranchCall): Promise<BranchAnswer>
  /** Lists the origins that have connections now. Absent: the caller does not know. */
  loads?(): readonly OriginLoad[]
  /** Ends the calls in flight as `unknown`, and closes the connections. */
  close(): Promise<void>
}

/** Says how busy the connections to one origin are. */
export interface OriginLoad {
  readonly origin: string
  /** The calls in flight, each on a connection of its own. */
  readonly inFlight: number
  /** The calls that wait for a connection. */
  readonly queued: number
}

/**
 * Says before each call of a stored transaction whether it must not be made. It returns a short stable word as the reason;
 * then nothing is sent, and the answer is `unknown` with that word. Undefined: the call may be made. It is for
 * transactions that an older version accepted and that cannot be called correctly.
 */
export type RefuseCall = (definition: Definition, url: string) => string | undefined

/** Finds the origin at which a stored branch URL is called, in one spelling. Undefined: the URL may not be called. */
export type FindOrigin = (url: string) => string | undefined

/** A monotonic clock in milliseconds. Its origin is arbitrary. */
export interface Clock {
  now(): number
  /** Calls back once, after `delayMs` or a little later. It returns a function that cancels the call. */
  after(delayMs: number, callback: () => void): () => void
}

export interface Ids {
  /** Draws 128 random bits, as 32 lower-case hex digits. */
  token(): string
  writeId(): string
  gid(): Gid
  /** Draws a number uniformly from [0, 1). */
  jitter(): number
}

/** A request to look later at a transaction that no node runs. */
export interface WakeUpRequest {
  readonly gid: Gid
  /** The delay from now. */
  readonly dueInMs: number
  /** It goes on with a call that has hung, or has taken long so far, and may hold the function that is woken. */
  readonly isSlow?: boolean
  /** The name of the submitter, if it is known. A fair queue lets the few transactions of one group overtake the many of another. */
  readonly group?: string
}

/**
 * A queue that wakes a function later, for hosts without a process that stays up. A request is only a hint: one that is
 * lost, early or doubled changes nothing but the time.
 */
export interface WakeUpQueue {
  /** Schedules the wake-ups. It rejects when a request may be lost. */
  schedule(requests: readonly WakeUpRequest[]): Promise<void>
}
