import type { Gid, Kind, Status, UnfinishedStatus } from '@counterstep/protocol'
import type {
  DocumentRemoval,
  DocumentRemovalResult,
  DocumentWrite,
  DocumentWriteResult,
  StoredDocument,
} from './documents.ts'

/**
 * The contract of every store, in the domain's verbs.
 *
 * Connections, database transactions, key names and migrations are not part of it. Each store owns those.
 * Conflict and absence are results. Only broken infrastructure throws, as a `StoreUnavailableError`.
 * All instants are integer milliseconds from the epoch by the store's own clock. `definition` and `progress` are
 * opaque texts. Concurrent `create` and `update` calls may share one durable write; each promise settles only
 * after the write that holds its row.
 */
export interface Store {
  readonly name: string
  readonly durabilityClass: DurabilityClass
  /** Whether a failover of the database may lose writes. `none`: there is no failover. */
  readonly failover: 'none' | 'lossless' | 'lossy'
  readonly capabilities: StoreCapabilities
  /**
   * The store has little room left. The engine should refuse new transactions, so that the stored ones can still be saved
   * and finished. `create` itself does not refuse. Absent: the store does not know.
   */
  readonly isShortOfRoom?: boolean
  /** Whether `onCommand` tells of commands now. Absent: this store never does. */
  readonly tellsCommands?: boolean | undefined
  /** Creates a row. It is durable when the promise resolves. A call with the same `writeId` is the same write. */
  create(transaction: NewTransaction): Promise<CreateResult>
  /** Reads the rows that exist, in any order. It takes at most `READ_MANY_MAX` gids. */
  readMany(gids: readonly Gid[]): Promise<readonly StoredTransaction[]>
  /**
   * Resolves when all that reads have shown until now is durable. A database may show a row before the COMMIT that wrote it is on
   * the disk, or at its standby. Absent: a read shows only what is durable.
   */
  settle?(): Promise<void>
  /** Returns those of these gids whose rows are final, in any order, and reads no row whole. It takes as many as `readMany`. */
  findFinal(gids: readonly Gid[]): Promise<readonly Gid[]>
  /**
   * Updates a row if it has this `token` and this `version`. It is durable when the
   * promise resolves. A call with the same `writeId` is the same write.
   */
  update(update: TransactionUpdate): Promise<UpdateResult>
  /**
   * Moves the lease end of the rows that still have these tokens to now + leaseMs. It takes at most `RENEW_MAX` leases.
   */
  renew(leases: readonly Lease[], leaseMs: number): Promise<RenewResult>
  /** Claims rows that are due, oldest first, up to `CLAIM_BYTES_MAX`. Two callers never claim the same row. */
  claimDue(claim: DueClaim): Promise<DueClaimResult>
  /** Claims one row, due or waiting, unless another owner's lease still runs. */
  claim(claim: SingleClaim): Promise<SingleClaimResult>
  /**
   * Moves the due instant of rows that are due to now + byMs, oldest first, and returns their gids, so that another
   * node can claim each by `claim`. Until then no second caller gets the same row. Only the hold changes. An owner
   * whose lease has run out loses the row, but the row keeps that owner's token, and a save that the owner still makes
   * under this token counts. Such a save is right, because it tells of calls that were made under the lease: by the
   * owner's own clock a lease ends earlier than by the store's. A `renew` by that owner is answered `lost`, so the
   * owner makes no new calls beside the node that claims the row.
   */
  postponeDue(postponement: DuePostponement): Promise<DuePostponementResult>
  /**
   * Lists newest first by (createdAt, gid), or in another order. It scans at most `LIST_SCAN_MAX` rows and begins no further
   * `LIST_PIECE_ROWS` after `LIST_SCAN_MS_MAX`, so a page may be short and still have a cursor. In the order `created` a
   * query with tags scans only rows that have one of them, however many others there are.
   */
  list(query: ListQuery): Promise<ListResult>
  stats(): Promise<StoreStats>
  /** Removes finished rows whose retention is over, at most `limit` (≤ PURGE_MAX). */
  purgeFinished(limit: number): Promise<{ readonly purged: number }>
  /**
   * Reads all documents of the category, at most `DOCUMENTS_MAX`, by the bytes of
   * their keys. Each is as it was at some instant of the call.
   */
  readDocuments(category: string): Promise<readonly StoredDocument[]>
  /**
   * Writes a document if it has the expected version. It is durable when the promise
   * resolves. A call with the same `writeId` is the same write.
   */
  writeDocument(write: DocumentWrite): Promise<DocumentWriteResult>
  /** Removes a document. The removal is durable when the promise resolves. */
  removeDocument(removal: DocumentRemoval): Promise<DocumentRemovalResult>
  /**
   * Calls the listener with the gid of a row soon after a `command` has changed it, on whichever node. It is a hint: a row may never be
   * told of, and a gid that is told may be of no row. Absent: the store tells nothing.
   */
  onCommand?(listener: (gid: Gid) => void): void
  /** Settles the queued calls, then closes. Every later call throws a `StoreUnavailableError`. */
  close(): Promise<void>
}

/** The events that stores report. `docs/guides/operate.md` explains each. */
export const STORE_EVENT_NAMES = [
  'store-connected',
  'store-connection-lost',
  'store-server-changed',
  'store-class-lowered',
  'store-tail-lost',
  'store-open-to-others',
  'store-rewritten',
  'store-short-of-room',
  'store-has-room',
] as const

/**
 * A store reports these events to its host, which writes them to the log and counts them by name. It has no password
 * and no payload.
 */
export interface StoreEvent {
  readonly level: 'info' | 'warn' | 'error'
  readonly name: (typeof STORE_EVENT_NAMES)[number]
  readonly detail: string
  readonly error?: unknown
}

export interface StoreCapabilities {
  /** The rows are still there after the store was closed and opened again. */
  readonly durable: boolean
  /** Several processes may have the store open at once. */
  readonly shared: boolean
}

/**
 * A: an acknowledged write survives power loss. B: up to 2 s may be lost
 * on power loss. C: may be lost on a process crash.
 */
export type DurabilityClass = 'A' | 'B' | 'C'

export const READ_MANY_MAX = 500
export const RENEW_MAX = 500
export const CLAIM_MAX = 100
/** A claim of due rows ends behind the row with which their definitions and progress have so many bytes, or earlier. */
export const CLAIM_BYTES_MAX = 4 * 1024 * 1024
export const POSTPONE_MAX = 500
export const LIST_SCAN_MAX = 10_000
/** A list scans so many rows at once, and then sees whether the page is full or the time is over. */
export const LIST_PIECE_ROWS = 1_000
/** Rows that lie far from each other take a hundred times as long to read as neighbours, so a number alone bounds no page. */
export const LIST_SCAN_MS_MAX = 150
export const PURGE_MAX = 1_000
/** The due instant of a parked row, which no node claims until an operator retries it. */
export const PARKED_AT = 9_000_000_000_000_000
/** The purge instant of a finished row whose retention is "never". */
export const NEVER_AT = 9_000_000_000_000_000

/**
 * Whether a later owner may trust the recorded list of sent actions. `held`: the owner that keeps the list has owned
 * the row without a break. `released`: the row was given back with the full list saved. `unknown`: every branch must be
 * taken as sent. A claim turns `released` into `held` and all else into `unknown`.
 */
export type SentList = 'unknown' | 'held' | 'released'

export interface NewTransaction {
  readonly gid: Gid
  readonly kind: Kind
  readonly status: UnfinishedStatus
  readonly format: number
  /** The SHA-256 of the request's own content, as 64 lower-case hex digits. */
  readonly digest: string
  readonly definition: string
  readonly progress: string
  /** It has 32 lower-case hex digits, and is never repeated. */
  readonly token: string
  /** It has 1–32 characters of A-Z a-z 0-9 -, and is never repeated. */
  readonly writeId: string
  /** The creator owns the row until now + leaseMs, or any node may claim it from now + dueInMs on. */
  readonly hold:
    | { readonly type: 'owned'; readonly leaseMs: number }
    | { readonly type: 'waiting'; readonly dueInMs: number }
  readonly sentList: SentList
  readonly name?: string
  readonly tags?: Tags
}

/** The words by which a transaction is found, each under its key. */
export type Tags = Readonly<Record<string, string>>

/** A mark says what operators did to a row. A list shows the marks without reading the record. */
export const MARKS = ['paused', 'by-hand', 'edited'] as const
export type Mark = (typeof MARKS)[number]

export type CreateResult =
  | { readonly type: 'created'; readonly createdAt: number; readonly now: number }
  | { readonly type: 'exists'; readonly digest: string; readonly status: Status; readonly now: number }

export interface StoredTransaction {
  readonly gid: Gid
  readonly kind: Kind
  readonly status: Status
  readonly format: number
  readonly digest: string
  readonly definition: string
  readonly progress: string
  /**
   * It is 1 when created, and greater with each claim and each update. A store that can lose its last writes while an owner
   * lives takes max(version + 1, now), so that it never issues a lost version again.
   */
  readonly version: number
  readonly token: string
  /** It is 1 when created and one more with each claim. */
  readonly epoch: number
  readonly writeId: string
  /** The row has an owner, and `dueAt` is the end of its lease. */
  readonly owned: boolean
  readonly sentList: SentList
  /** The number of claims since the last update. */
  readonly claimsWithoutProgress: number
  readonly retrying: boolean
  readonly attention: boolean
  readonly createdAt: number
  readonly updatedAt: number
  /** When an unfinished row must be claimed, or when a finished row may be purged. */
  readonly dueAt: number
  readonly name?: string
  readonly tags?: Tags
  /** It says what the transaction waits for, in at most PROBLEM_LENGTH_MAX characters. Absent: it waits for nothing. */
  readonly problem?: string
  /** The attempts of the op that `problem` names. Absent: 0. */
  readonly attempts?: number
  /** Absent: none. */
  readonly marks?: readonly Mark[]
}

export interface TransactionUpdate {
  readonly gid: Gid
  readonly token: string
  /** The version that the writer knows. */
  readonly version: number
  readonly writeId: string
  readonly status: Status
  readonly format: number
  readonly progress: string
  readonly retrying: boolean
  readonly attention: boolean
  /** Absent: the row has no problem any more. */
  readonly problem?: string
  /** Absent: 0. */
  readonly attempts?: number
  /** Absent: the row has no mark any more. */
  readonly marks?: readonly Mark[]
  /** Absent: it stays as it is. */
  readonly sentList?: SentList
  readonly hold: UpdateHold
}

export type UpdateHold =
  /** The owner goes on: the ownership and the due instant stay. */
  | { readonly type: 'keep' }
  /** The owner gives the row back until `dueAt`. */
  | { readonly type: 'release'; readonly dueAt: number }
  /** The transaction is final, and its row is purged after the retention. */
  | { readonly type: 'finish'; readonly retentionMs: number | 'never' }
  /**
   * A node that is not the owner gave a command: an owner keeps the row, and a
   * waiting row becomes due at `dueAt` (default: now).
   */
  | { readonly type: 'command'; readonly dueAt?: number }

export type UpdateResult =
  | { readonly type: 'saved'; readonly version: number; readonly now: number }
  /** The row has another token: this node must stop its run and change nothing. */
  | { readonly type: 'fenced' }
  /** The row has the same token and another version: another node gave a command. */
  | { readonly type: 'conflict'; readonly version: number }
  | { readonly type: 'absent' }

export interface Lease {
  readonly gid: Gid
  readonly token: string
}

export interface RenewResult {
  readonly now: number
  readonly renewed: readonly { readonly gid: Gid; readonly version: number }[]
  /** These rows have another token, or were given back, postponed, finished or removed. */
  readonly lost: readonly Gid[]
}

export interface DueClaim {
  /** It is at most CLAIM_MAX. */
  readonly limit: number
  readonly leaseMs: number
  /** Each claimed row gets one of these fresh tokens. There are at least `limit` of them. */
  readonly tokens: readonly string[]
  /** Rows of a newer format are left alone. */
  readonly formatMax: number
}

export interface DueClaimResult {
  readonly now: number
  /** The rows as they are after the claim. */
  readonly claimed: readonly StoredTransaction[]
  /** More rows may be due, though fewer than `limit` were claimed, because a store limits the size of one answer. */
  readonly mayBeMore?: boolean
}

export interface SingleClaim {
  readonly gid: Gid
  readonly token: string
  readonly leaseMs: number
  readonly formatMax: number
}

export type SingleClaimResult =
  | { readonly type: 'claimed'; readonly transaction: StoredTransaction; readonly now: number }
  | { readonly type: 'refused'; readonly reason: 'held' | 'final' | 'absent' | 'parked' | 'format' }

export interface DuePostponement {
  /** It is at most POSTPONE_MAX. */
  readonly limit: number
  /** It is at least 1. */
  readonly byMs: number
  /** Rows of a newer format are left alone. */
  readonly formatMax: number
}

export interface DuePostponementResult {
  /** The rows are due again byMs after this instant, or a little later. */
  readonly now: number
  /** The gids stand in the order in which the rows were due. */
  readonly gids: readonly Gid[]
  /** More rows may be due, though fewer than `limit` were moved, because a store limits the work of one call. */
  readonly mayBeMore?: boolean
}

export interface ListCursor {
  /** The instant by which the list is ordered: the accept, or the due instant. */
  readonly at: number
  readonly gid: Gid
}

/**
 * `created`: the newest accept first. `due` and `due-last`: unfinished rows only, those that are due first, or last, at the
 * top. Rows whose due instant changes while the pages are read may be listed twice or not at all.
 */
export type ListOrder = 'created' | 'due' | 'due-last'

export interface ListQuery {
  readonly limit: number
  /** The default is `created`. */
  readonly order?: ListOrder
  /** Only rows that come strictly after this pair in the order are listed. */
  readonly cursor?: ListCursor
  readonly name?: string
  /** The row has all of these. */
  readonly tags?: Tags
  readonly problem?: string
  /** The row has all of these. */
  readonly marks?: readonly Mark[]
  /** The gid begins with this text. */
  readonly gidPrefix?: string
  readonly status?: readonly Status[]
  readonly kind?: Kind
  readonly retrying?: boolean
  readonly attention?: boolean
  /** The bound is inclusive. */
  readonly createdFrom?: number
  /** The bound is exclusive. */
  readonly createdTo?: number
}

export type ListedTransaction = Pick<
  StoredTransaction,
  | 'gid'
  | 'kind'
  | 'status'
  | 'createdAt'
  | 'updatedAt'
  | 'dueAt'
  | 'epoch'
  | 'retrying'
  | 'attention'
  | 'name'
  | 'tags'
  | 'problem'
  | 'attempts'
  | 'marks'
>

export interface ListResult {
  readonly items: readonly ListedTransaction[]
  /** It is absent when no further row can follow. Its instant tells how far the search has come. */
  readonly cursor?: ListCursor
}

export interface StoreStats {
  readonly now: number
  readonly unfinished: Readonly<Record<UnfinishedStatus, number>>
  /** The oldest due instant of all unfinished rows. */
  readonly oldestDueAt?: number
  /** The number of unfinished rows with attention. */
  readonly attention: number
  /** The accept of the oldest unfinished row that is not paused. */
  readonly oldestUnfinishedAt?: number
  /** The numbers of unfinished rows with these marks. */
  readonly paused: number
  readonly byHand: number
  /** The problems of unfinished rows, the most frequent first: at most PROBLEMS_MAX, and one called `other` for the rest. */
  readonly problems: readonly StoredProblem[]
}

export interface StoredProblem {
  readonly problem: string
  readonly waiting: number
  /** The number of these rows with attention. */
  readonly attention: number
  /** The accept of the oldest of these rows. */
  readonly oldestAt: number
}
