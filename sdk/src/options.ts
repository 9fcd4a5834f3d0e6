import type { Kind, Status } from '@counterstep/protocol'

/**
 * What each call may say for itself.
 *
 * @example
 * ```ts
 * await client.get(gid, { signal: AbortSignal.timeout(2_000) })
 * ```
 */
export interface CallOptions {
  /** Ends the call; it rejects with the signal's reason. What was sent may still be done. */
  readonly signal?: AbortSignal
  /** Instead of the client's. */
  readonly retryForMs?: number
}

/**
 * What a submit may say for itself.
 *
 * @example
 * ```ts
 * await client.submit(transfer, { waitMs: 10_000 })
 * ```
 */
export interface SubmitOptions extends CallOptions {
  /** Answer when the transaction is final, or after this time. 0 to 60,000; whole seconds go out. Default: no wait. */
  readonly waitMs?: number
}

/**
 * What an abort may say for itself.
 *
 * @example
 * ```ts
 * await client.abort(gid, { reason: 'the customer has cancelled', waitMs: 5_000 })
 * ```
 */
export interface AbortOptions extends SubmitOptions {
  /** Kept with the decision, and shown. At most 1,024 characters. */
  readonly reason?: string
}

/**
 * What a wait may say for itself.
 *
 * @example
 * ```ts
 * await client.wait(gid, { timeoutMs: 120_000 })
 * ```
 */
export interface WaitOptions {
  readonly signal?: AbortSignal
  /** Default 60,000. */
  readonly timeoutMs?: number
}

/**
 * Which transactions to list. Instants are milliseconds from the epoch.
 *
 * @example
 * ```ts
 * const filter: ListFilter = { status: ['submitted', 'aborting'], createdTo: Date.now() - 60_000 }
 * ```
 */
export interface ListFilter {
  readonly status?: Status | readonly Status[]
  readonly kind?: Kind
  /** An op waits to be asked again. */
  readonly retrying?: boolean
  /** A person should look at it. */
  readonly attention?: boolean
  /** Inclusive. */
  readonly createdFrom?: number
  /** Exclusive. */
  readonly createdTo?: number
  /** Of one page: 1 to 200, default 50. */
  readonly limit?: number
  /** From the page before. */
  readonly cursor?: string
}
