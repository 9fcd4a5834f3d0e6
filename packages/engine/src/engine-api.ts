import type {
  DurabilityClass,
  ListCursor,
  ListQuery,
  RecordedEnd,
  RegisteredBranch,
  StepRecord,
  StoreStats,
  Submission,
  Transaction,
} from '@counterstep/core'
import type {
  Actor,
  Gid,
  NamesView,
  Op,
  OverviewView,
  PlanView,
  PreviewRequest,
  ProblemsView,
  ServicesView,
  SignalView,
  SkipRequest,
  SubmitView,
  TransactionSummary,
  TransactionView,
} from '@counterstep/protocol'
import type { BulkApi } from './bulk/bulk-jobs.ts'
import type { SavedViewsApi } from './views/saved-views.ts'
import type { Watch } from './watch/watch.ts'

export interface WaitOptions {
  /** The call answers when the transaction is final, or after this time with its state then. */
  readonly waitMs?: number
  /**
   * The call answers earlier when nothing can end the transaction within `waitMs`, because its start or its next
   * retry is due later. A caller that asks again at once after such an answer would ask without a pause.
   */
  readonly untilIdle?: boolean
  /** A host that holds something of the transaction while it waits says how long that is. If all hold too much, it does not wait. */
  readonly heldCharacters?: number
  /** It aborts when the caller is gone. Then the call answers at once, and takes the place of no other that waits. */
  readonly gone?: AbortSignal
  /**
   * Requests of different callers that name large transactions take turns. Without a caller it waits for no turn. So do
   * transactions that different callers have submitted, where many are due at one instant.
   */
  readonly caller?: string | undefined
}

export interface SubmitOptions extends WaitOptions {
  /**
   * It gets the number of bytes of the row's definition before the row is
   * stored. An error that it throws refuses the submit.
   */
  readonly takeBytes?: ((bytes: number) => void) | undefined
  /**
   * The caller's place in a trace: its headers as W3C Trace Context names them. It is stored with a new transaction and
   * goes with each call, and is not part of the content. One that is not valid is left out.
   */
  readonly trace?: CallerTrace | undefined
}

export interface CallerTrace {
  readonly traceparent?: string | readonly string[] | undefined
  readonly tracestate?: string | readonly string[] | undefined
}

/** Says who gives a command, and why. */
export interface Given {
  /** The same id again is the same command. Without it each call is a command of its own. */
  readonly commandId?: string
  readonly by: Actor
  readonly reason?: string
  /** The command is refused if something else than this plan of a preview would follow by now. */
  readonly planId?: string
  readonly confirm?: string
  /** The bulk job that gives it. */
  readonly bulk?: string
}

export interface AbortOptions extends WaitOptions {
  /** The reason is stored with the decision and shown. */
  readonly reason?: string
  /** Only an operator's abort has it, and makes an entry in the trail. */
  readonly given?: Given
}

export interface ShownWhole {
  readonly transaction: Transaction
  /** The view may be newer than `transaction`, which is as it was saved. */
  readonly view: TransactionView
}

/** These are the engine's operations for a host: the server, a function or the user's own app. */
export interface EngineApi {
  /**
   * Checks the request, stores it and runs it here. `body` is the caller's request, parsed from JSON. All rules about
   * its shape and values are checked in here. It throws InvalidRequestError (nothing stored), and CounterstepError
   * with SAGA_GID_CONFLICT, SAGA_OVER_CAPACITY, SAGA_STORE_FULL, SAGA_STOPPING, SAGA_NOT_ACCEPTED (proven not stored)
   * or SAGA_OUTCOME_UNKNOWN (submit the same again). If `waitMs` is given, it answers once the transaction is final.
   * When that time is over it answers with the state of that moment.
   */
  submit(body: unknown, options?: SubmitOptions): Promise<SubmitView>
  /** Does what `submit` does, for a host of another dialect that has read and checked the request by itself. */
  accept(submission: Submission, options?: SubmitOptions): Promise<SubmitView>
  /**
   * Shows a transaction. Returns undefined if there is no such gid. Commands use it, because they must not wait for
   * readers.
   */
  get(gid: Gid): Promise<TransactionView | undefined>
  /**
   * Reads the whole stored transaction with its definition. Returns undefined if there is no such gid. It throws
   * SAGA_INTERNAL when the record cannot be read. The `caller` takes turns with others as for a command, below.
   */
  read(gid: Gid, caller?: string): Promise<Transaction | undefined>
  /** Reads it together with its view, in the same turns. */
  readWhole(gid: Gid, caller?: string): Promise<ShownWhole | undefined>
  /**
   * Shows a transaction as `get` does, for callers that only read. Few of these reads are under way at once, and
   * different `caller`s take turns; the text may name anything. It throws SAGA_TOO_MANY_READS when its turn does not
   * come in time.
   */
  show(gid: Gid, caller?: string): Promise<TransactionView | undefined>
  /** Shows a transaction together with its definition, as `read` gives it, in the turns of those that only read. */
  showWhole(gid: Gid, caller?: string): Promise<ShownWhole | undefined>
  /**
   * Lists transactions. A list scans rows, so very few are under way at once. It
   * throws SAGA_TOO_MANY_READS when its turn does not come in time. With `gid` at most that one is listed, and nothing is
   * scanned.
   */
  list(
    query: ListQuery & { readonly gid?: Gid },
    caller?: string,
  ): Promise<{ readonly items: readonly TransactionSummary[]; readonly cursor?: ListCursor }>
  /**
   * Adds a branch to a prepared TCC, before the client tries it, or to a prepared XA. A repeat with the same content changes nothing.
   * It throws InvalidRequestError, SAGA_UNKNOWN_GID, SAGA_NOT_PREPARED, SAGA_WRONG_KIND, SAGA_BRANCH_CONFLICT and
   * SAGA_TOO_MANY_BRANCHES. Where a command names a large transaction, different `caller`s take turns, and it throws
   * SAGA_OVER_CAPACITY when its turn does not come in time. Without a caller it waits for no turn.
   */
  registerBranch(gid: Gid, body: unknown, caller?: string): Promise<TransactionView>
  addBranch(gid: Gid, branch: RegisteredBranch, caller?: string): Promise<TransactionView>
  /**
   * Stores what the client of a recorded workflow reports. A repeat with the same content changes nothing. It throws SAGA_UNKNOWN_GID,
   * SAGA_NOT_PREPARED, SAGA_WRONG_KIND, SAGA_BRANCH_CONFLICT, SAGA_TOO_MANY_BRANCHES and SAGA_PAYLOAD_TOO_LARGE.
   */
  addRecord(gid: Gid, record: StepRecord, caller?: string): Promise<TransactionView>
  /**
   * Ends a recorded workflow as its client says. A repeat changes nothing. It throws SAGA_UNKNOWN_GID, SAGA_WRONG_KIND and
   * SAGA_ALREADY_FINAL.
   */
  endRecorded(gid: Gid, end: RecordedEnd, caller?: string): Promise<TransactionView>
  /** Confirms a prepared TCC or delivers a prepared message. A repeat changes nothing. It throws SAGA_NOT_PREPARED. */
  submitPrepared(gid: Gid, options?: WaitOptions): Promise<TransactionView>
  /**
   * The commands throw SAGA_UNKNOWN_GID and SAGA_ALREADY_FINAL, and an abort also SAGA_NO_RETURN. They answer when the
   * command is durable.
   */
  abort(gid: Gid, options?: AbortOptions): Promise<TransactionView>
  /**
   * Gives a saga a signal that one of its branches waits for. The same signal again changes nothing and is answered as
   * before, also after the end. It answers when the signal is durable. It throws InvalidRequestError, SAGA_UNKNOWN_GID,
   * SAGA_WRONG_KIND, SAGA_SIGNAL_UNKNOWN, SAGA_SIGNAL_CONFLICT, SAGA_TOO_MANY_SIGNALS, SAGA_TURNED_AROUND and
   * SAGA_ALREADY_FINAL.
   */
  signal(gid: Gid, name: string, body: unknown, caller?: string): Promise<SignalView>
  /**
   * Calls now what waits. An operator's command throws, beside what the commands above throw, InvalidRequestError,
   * SAGA_COMMAND_CONFLICT, SAGA_PLAN_CHANGED and SAGA_TRAIL_FULL, and a retry SAGA_PAUSED. It is durable together with its
   * entry in the trail.
   */
  retry(gid: Gid, given?: Given, caller?: string): Promise<TransactionView>
  /** Does so for one op. It throws SAGA_OP_UNKNOWN, SAGA_OP_DONE and SAGA_OP_NOT_DUE. */
  retryOp(gid: Gid, branchId: string, op: Op, given?: Given): Promise<TransactionView>
  /** No call starts until the resume, or until the instant `until`. */
  pause(gid: Gid, options: { readonly until?: number }, given: Given): Promise<TransactionView>
  resume(gid: Gid, given: Given): Promise<TransactionView>
  /** Ends the transaction as it is. A `given` needs a reason, or else SAGA_REASON_REQUIRED is thrown. */
  stop(gid: Gid, given?: Given): Promise<TransactionView>
  /**
   * Declares an op done. It throws SAGA_OP_UNKNOWN, SAGA_OP_DONE, SAGA_OP_NOT_DUE, SAGA_CONFIRMATION_REQUIRED,
   * SAGA_REASON_REQUIRED, and SAGA_OP_BUSY if the op's call does not end, or its node does not let go, within 5 s.
   */
  skip(
    gid: Gid,
    branchId: string,
    op: Op,
    options: Pick<SkipRequest, 'doneBy' | 'answer'>,
    given: Given,
  ): Promise<TransactionView>
  /** Changes the request of an op. `body` is checked like a submit. It throws what `skip` does, and SAGA_EDITS_TOO_LARGE. */
  edit(gid: Gid, branchId: string, op: Op, body: unknown, given: Given): Promise<TransactionView>
  /** Says what would follow from a command, and changes nothing. */
  preview(gid: Gid, request: PreviewRequest, caller?: string): Promise<PlanView>
  /**
   * Shows the requests of a transaction, which may hold secrets, as the JSON of a `TransactionRequestView`. Returns undefined
   * if there is no such gid. It throws SAGA_TOO_MANY_READS.
   */
  showRequest(gid: Gid, caller?: string): Promise<string | undefined>
  /**
   * Waits until a caller may be sent a text of so many characters that the host has ready. So a caller that asks for it
   * again and again does not hold up the others. It throws SAGA_TOO_MANY_READS.
   */
  waitForTurn(characters: number, caller?: string): Promise<void>
  health(): EngineHealth
  /** Counts what unfinished transactions wait for, at most 5 s ago. It throws SAGA_STORE_UNAVAILABLE. */
  problems(): Promise<ProblemsView>
  /** Shows this node, its fellows and the store. It never waits for the store for long, and says what is old. */
  overview(): Promise<OverviewView>
  /** Shows how the calls of each service went in the last hour. */
  services(): Promise<ServicesView>
  /** Shows how the transactions of each name went in the last hour. */
  names(): Promise<NamesView>
  /** Reads the figures of the store, at most once in 5 s for all who ask. Undefined: the store does not answer. */
  readStats(): Promise<StoreStats | undefined>
  /** Tells watchers of changes. Absent: nothing goes on here between two calls, as in a function. */
  readonly watch?: Pick<Watch, 'open'>
  /** Gives one command to many transactions. It is absent where `watch` is. */
  readonly bulk?: BulkApi
  /** It is absent in a function, which has no console. */
  readonly views?: SavedViewsApi
  /**
   * The engine takes no new work any more. `health` says so too; this costs less for a host that asks at each answer.
   */
  readonly isStopping: boolean
  /**
   * Refuses new work, lets calls finish until `limitMs` and gives all transactions back to the store. It does not
   * close the store. A second call resolves together with the first.
   */
  close(limitMs?: number): Promise<void>
}

export interface EngineHealth {
  /**
   * It is false while the engine stops, when the store did not answer its last
   * call, or while the store's disk has too little room.
   */
  readonly ready: boolean
  readonly reason?: 'stopping' | 'store-unavailable' | 'store-full'
  readonly store: {
    readonly name: string
    readonly durabilityClass: DurabilityClass
    readonly failover: 'none' | 'lossless' | 'lossy'
    /** When this node learns of a command that another node was given. Absent: the store never tells, so at the next renewal. */
    readonly commands?: 'at-once' | 'at-renewal'
  }
  readonly inFlight: number
  readonly inFlightMax: number
  /** The number of targets that have as many transactions or calls as they may have. */
  readonly targetsAtShare: number
}
