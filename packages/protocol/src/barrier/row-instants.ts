import { GID_REUSE_MARGIN_MS } from '../limits.ts'

/** Both as epoch milliseconds. */
export interface RowInstants {
  /** The instant that a row of the call is given. */
  readonly at: number
  /** Rows that have an earlier instant are those of another transaction. */
  readonly since: number
}

/**
 * A row is given the instant at which its transaction was accepted, which is the same in all calls of a transaction and
 * comes from the orchestrator. So the service's own clock has no say in whose a row is, however wrong it goes.
 *
 * A call that does not tell it (one of DTM's) gives its row the service's time, and takes every row for its own.
 */
export function rowInstants(acceptedAt: number | undefined, now: number): RowInstants {
  if (acceptedAt === undefined) return { at: now, since: 0 }
  const at = Math.floor(acceptedAt)
  return { at, since: at - GID_REUSE_MARGIN_MS }
}

/** Whether the row's transaction was accepted before. A row without an instant is taken for the call's own. */
export function isOfOtherTransaction({ createdAt }: { readonly createdAt?: number }, since: number): boolean {
  return createdAt !== undefined && createdAt < since
}
