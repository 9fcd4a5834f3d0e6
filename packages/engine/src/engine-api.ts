import type {
  DurabilityClass,
  ListCursor,
  ListQuery,
  Submission,
  TccBranch,
  Transaction,
} from '@counterstep/core'
import type { Gid, SubmitView, TransactionSummary, TransactionView } from '@counterstep/protocol'

export interface WaitOptions {
  /** Answer when the transaction is final, or after this time with what it then is. */
  readonly waitMs?: number
  /**
   * Answer earlier as soon as nothing can end it within `waitMs`: it waits for a start or a retry that is due later. For
   * a caller who would rather be told than wait; one that asks again at once would ask without a pause.
   */
  readonly untilIdle?: boolean
}

export interface SubmitOptions extends WaitOptions {
  /** Told how many bytes the row's definition has, before it is stored; what it throws refuses the submit. */
  readonly takeBytes?: ((bytes: number) => void) | undefined
}

export interface AbortOptions extends WaitOptions {
  /** Kept with the decision, and shown. */
  readonly reason?: string
}

export interface ShownWhole {
  readonly transaction: Transaction
  /** It has what has happened since `transaction` was saved. */
  readonly view: TransactionView
}

/** What a host (server, function, the user's own app) may ask of the engine. */
export interface EngineApi {
  /**
   * Checks the request, stores it and runs it here.
   * `body` is what the caller sent, parsed from JSON; every rule about its shape and values is checked in here.
   * Throws InvalidRequestError (nothing stored), and CounterstepError with SAGA_GID_CONFLICT, SAGA_OVER_CAPACITY,
   * SAGA_STORE_FULL, SAGA_STOPPING, SAGA_NOT_ACCEPTED (proven not stored) or SAGA_OUTCOME_UNKNOWN (submit the same again).
   * With `waitMs` it answers when the transaction is final, or after that time with what it then is.
   */
  submit(body: unknown, options?: SubmitOptions): Promise<SubmitView>
  /** The same for a host that has read and checked the request by itself, since it speaks another dialect. */
  accept(submission: Submission, options?: SubmitOptions): Promise<SubmitView>
  /** Undefined: no such gid. Commands use it, which must not wait for readers. */
  get(gid: Gid): Promise<TransactionView | undefined>
  /** What the store has, definition and all. Undefined: no such gid. Throws SAGA_INTERNAL when it cannot be read. */
  read(gid: Gid): Promise<Transaction | undefined>
  /**
   * The same as `get`, for those who only read: few of these are under way at once, and `caller`s take turns, whatever that
   * text names. Throws SAGA_TOO_MANY_READS when its turn does not come in time.
   */
  show(gid: Gid, caller?: string): Promise<TransactionView | undefined>
  /** The same with the definition, as `read` gives it. */
  showWhole(gid: Gid, caller?: string): Promise<ShownWhole | undefined>
  /** Throws SAGA_TOO_MANY_READS when its turn does not come in time: a list scans, so very few are under way at once. */
  list(
    query: ListQuery,
    caller?: string,
  ): Promise<{ readonly items: readonly TransactionSummary[]; readonly cursor?: ListCursor }>
  /**
   * Adds a branch to a prepared TCC, before its client tries it. Again with the same content: it is there once.
   * Throws InvalidRequestError, SAGA_UNKNOWN_GID, SAGA_NOT_PREPARED, SAGA_WRONG_KIND, SAGA_BRANCH_CONFLICT and
   * SAGA_TOO_MANY_BRANCHES.
   */
  registerBranch(gid: Gid, body: unknown): Promise<TransactionView>
  addBranch(gid: Gid, branch: TccBranch): Promise<TransactionView>
  /** A prepared TCC is confirmed, a prepared message delivered. Again: it goes on as it did. Throws SAGA_NOT_PREPARED. */
  submitPrepared(gid: Gid, options?: WaitOptions): Promise<TransactionView>
  /** The commands throw SAGA_UNKNOWN_GID and SAGA_ALREADY_FINAL. They answer when the command is durable. */
  abort(gid: Gid, options?: AbortOptions): Promise<TransactionView>
  retry(gid: Gid): Promise<TransactionView>
  stop(gid: Gid): Promise<TransactionView>
  health(): EngineHealth
  /** It takes nothing new any more; what `health` says too, for who asks at each answer. */
  readonly isStopping: boolean
  /**
   * Refuses new work, lets calls finish until `limitMs`, gives everything back to the store. Does not close the store.
   * Asked for again, it is over when the first is.
   */
  close(limitMs?: number): Promise<void>
}

export interface EngineHealth {
  /** False while stopping, when the store did not answer its last call, or while its disk has too little room. */
  readonly ready: boolean
  readonly reason?: 'stopping' | 'store-unavailable' | 'store-full'
  readonly store: {
    readonly name: string
    readonly durabilityClass: DurabilityClass
    readonly failover: 'none' | 'lossless' | 'lossy'
  }
  readonly inFlight: number
  readonly inFlightMax: number
  /** Targets that hold as many transactions or calls as they may. */
  readonly targetsAtShare: number
}
