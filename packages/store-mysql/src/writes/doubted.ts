import { StoreUnavailableError } from '@counterstep/core'

/** The failure of a later try, where an earlier one of the same write may have been applied, or may still be. */
export function doubted(error: unknown): unknown {
  if (!(error instanceof StoreUnavailableError)) return error
  return new StoreUnavailableError(error.message, { applied: 'unknown', cause: error.cause })
}
