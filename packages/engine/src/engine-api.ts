import type { DurabilityClass, ListCursor, ListQuery } from '@counterstep/core'
import type { Gid, SubmitView, TransactionSummary, TransactionView } from '@counterstep/protocol'

/** What a host (server, function, the user's own app) may ask of the engine. */
export interface EngineApi {
  /**
   * Checks the request, stores it and runs it here.
   * `body` is what the caller sent, parsed from JSON; every rule about its shape and values is checked in here.
   * Throws InvalidRequestError (nothing stored), and CounterstepError with SAGA_GID_CONFLICT, SAGA_OVER_CAPACITY,
   * SAGA_STOPPING, SAGA_NOT_ACCEPTED (proven not stored) or SAGA_OUTCOME_UNKNOWN (submit the same again).
   * With `waitMs` it answers when the transaction is final, or after that time with what it then is.
   */
  submit(body: unknown, options?: { readonly waitMs?: number }): Promise<SubmitView>
  /** Undefined: no such gid. */
  get(gid: Gid): Promise<TransactionView | undefined>
  list(
    query: ListQuery,
  ): Promise<{ readonly items: readonly TransactionSummary[]; readonly cursor?: ListCursor }>
  /** The commands throw SAGA_UNKNOWN_GID and SAGA_ALREADY_FINAL. They answer when the command is durable. */
  abort(gid: Gid): Promise<TransactionView>
  retry(gid: Gid): Promise<TransactionView>
  stop(gid: Gid): Promise<TransactionView>
  health(): EngineHealth
  /** Refuses new work, lets calls finish until `limitMs`, gives everything back to the store. Does not close the store. */
  close(limitMs?: number): Promise<void>
}

export interface EngineHealth {
  /** False while stopping, or when the store did not answer its last call. */
  readonly ready: boolean
  readonly reason?: 'stopping' | 'store-unavailable'
  readonly store: {
    readonly name: string
    readonly durabilityClass: DurabilityClass
    readonly failover: 'none' | 'lossless' | 'lossy'
  }
  readonly inFlight: number
  readonly inFlightMax: number
}
