import { GID_REUSE_MARGIN_MS } from '@counterstep/protocol'

/**
 * The first instant at which a row of the transaction can have been made. `acceptedAt` is the same in all its calls; a
 * call without it (one of DTM's) tells nothing, so that every row is taken for its own.
 */
export function rowsSince(acceptedAt: number | undefined): number {
  return acceptedAt === undefined ? 0 : Math.floor(acceptedAt) - GID_REUSE_MARGIN_MS
}

/** Whether the row was made before the transaction was accepted. One that does not say when it was made never was. */
export function isOfOtherTransaction({ createdAt }: { readonly createdAt?: number }, since: number): boolean {
  return createdAt !== undefined && createdAt < since
}
