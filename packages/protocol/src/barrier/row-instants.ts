import { GID_REUSE_MARGIN_MS } from '../limits.ts'

/** Both instants are epoch milliseconds. */
export interface RowInstants {
  /** A row of the call is given this instant. */
  readonly at: number
  /** A row with an earlier instant belongs to another transaction. */
  readonly since: number
}

/**
 * A row is given the instant at which its transaction was accepted, which is the same in all calls of a transaction and
 * comes from the orchestrator. So a wrong clock of the service cannot change to which transaction a row belongs.
 *
 * A call that does not carry that instant, such as a call of DTM, gives its row the service's time, and takes every
 * row for its own.
 */
export function computeRowInstants(acceptedAt: number | undefined, now: number): RowInstants {
  if (acceptedAt === undefined) return { at: now, since: 0 }
  const at = Math.floor(acceptedAt)
  return { at, since: at - GID_REUSE_MARGIN_MS }
}

/** Tells whether the row belongs to an earlier transaction. A row without an instant is taken for the call's own. */
export function isOfOtherTransaction({ createdAt }: { readonly createdAt?: number }, since: number): boolean {
  return createdAt !== undefined && createdAt < since
}
