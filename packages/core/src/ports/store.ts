import type { Gid, Kind, Status, UnfinishedStatus } from '@counterstep/protocol'
import type {
  DocumentRemoval,
  DocumentRemovalResult,
  DocumentWrite,
  DocumentWriteResult,
  StoredDocument,
} from './documents.ts'

/**
 * What the store remembers, in the domain's verbs.
 *
 * Not in here: connections, database transactions, key names, migrations. A store owns those.
 * Conflict and absence are results. Only broken infrastructure throws, as a `StoreUnavailableError`.
 * All instants are integer milliseconds from the epoch by the store's own clock. `definition` and `progress` are
 * opaque texts. Concurrent `create` and `update` calls may share one durable write; each promise settles only
 * after the write that holds its row.
 */
export interface Store {
  readonly name: string
  readonly durabilityClass: DurabilityClass
  /** What a failover of the database may lose. `none`: there is no failover. */
  readonly failover: 'none' | 'lossless' | 'lossy'
  readonly capabilities: StoreCapabilities
  /**
   * The store has little room left: whoever asks for new transactions should be refused, so that those that are there can still
   * be saved and finished. `create` itself does not refuse. Absent: the store does not know.
   */
  readonly isShortOfRoom?: boolean
  /** Durable when it resolves. Sent again with the same `writeId` it is the same write. */
  create(transaction: NewTransaction): Promise<CreateResult>
  /** The rows that exist, in any order. At most `READ_MANY_MAX` gids. */
  readMany(gids: readonly Gid[]): Promise<readonly StoredTransaction[]>
  /** Durable when it resolves. Applied only if the row has this `token` and this `version`; sent again with the same `writeId` it is the same write. */
  update(update: TransactionUpdate): Promise<UpdateResult>
  /** Moves the lease end of the rows that still have these tokens to now + leaseMs. At most `RENEW_MAX` leases. */
  renew(leases: readonly Lease[], leaseMs: number): Promise<RenewResult>
  /** Claims rows that are due, oldest first. Never two claimers for one row. */
  claimDue(claim: DueClaim): Promise<DueClaimResult>
  /** Claims one row, due or waiting, unless another owner's lease still runs. */
  claim(claim: SingleClaim): Promise<SingleClaimResult>
  /**
   * Moves rows that are due on to now + byMs, oldest first, and names them: somebody will look at them by `claim`. Never
   * two callers for one row until then. Nothing else changes but the hold: an owner whose lease has run out loses it, and
   * not his token. What he still saves under it counts, since it tells of calls made under his lease, which ended for
   * him before it did for the store; his `renew` is `lost`, so he makes no new ones beside whoever claims the row.
   */
  postponeDue(postponement: DuePostponement): Promise<DuePostponementResult>
  /** Newest first by (createdAt, gid). Scans at most `LIST_SCAN_MAX` rows, so a page may be short and still have a cursor. */
  list(query: ListQuery): Promise<ListResult>
  stats(): Promise<StoreStats>
  /** Removes finished rows whose retention is over, at most `limit` (≤ PURGE_MAX). */
  purgeFinished(limit: number): Promise<{ readonly purged: number }>
  /** All of the category, at most `DOCUMENTS_MAX`, by key in the order of its bytes; each as it was at some instant of the call. */
  readDocuments(category: string): Promise<readonly StoredDocument[]>
  /** Durable when it resolves. Applied only if the document has this version; sent again with the same `writeId` it is the same write. */
  writeDocument(write: DocumentWrite): Promise<DocumentWriteResult>
  /** Durable when it resolves. */
  removeDocument(removal: DocumentRemoval): Promise<DocumentRemovalResult>
  /** Settles what is queued, then closes. Every later call throws a `StoreUnavailableError`. */
  close(): Promise<void>
}

/** What stores report; `docs/guides/operate.md` explains each. */
export const STORE_EVENT_NAMES = [
  'store-connected',
  'store-connection-lost',
  'store-server-changed',
  'store-class-lowered',
  'store-tail-lost',
  'store-open-to-others',
  'store-short-of-room',
  'store-has-room',
] as const

/** What a store tells its host beside its answers: for the log and, by name, for a counter. Never a password or a payload. */
export interface StoreEvent {
  readonly level: 'info' | 'warn' | 'error'
  readonly name: (typeof STORE_EVENT_NAMES)[number]
  readonly detail: string
  readonly error?: unknown
}

export interface StoreCapabilities {
  /** A closed and reopened store still has its rows. */
  readonly durable: boolean
  /** Several processes may have it open at once. */
  readonly shared: boolean
}

/** A: an acknowledged write survives power loss. B: up to 2 s may be lost on power loss. C: may be lost on a process crash. */
export type DurabilityClass = 'A' | 'B' | 'C'

export const READ_MANY_MAX = 500
export const RENEW_MAX = 500
export const CLAIM_MAX = 100
export const POSTPONE_MAX = 500
export const LIST_SCAN_MAX = 10_000
export const PURGE_MAX = 1_000
/** The due instant of a row that nobody claims until an operator says so. */
export const PARKED_AT = 9_000_000_000_000_000
/** The purge instant of a finished row whose retention is "never". */
export const NEVER_AT = 9_000_000_000_000_000

/**
 * Whether a later owner may trust the recorded list of sent actions.
 * `held`: the owner has held the row without a break, `released`: given back with the full list saved,
 * `unknown`: every branch must be taken as sent. A claim turns `released` into `held` and anything else into `unknown`.
 */
export type SentList = 'unknown' | 'held' | 'released'

export interface NewTransaction {
  readonly gid: Gid
  readonly kind: Kind
  readonly status: UnfinishedStatus
  readonly format: number
  /** SHA-256 of the request's own content, 64 lower-case hex digits. */
  readonly digest: string
  readonly definition: string
  readonly progress: string
  /** 32 lower-case hex digits, never repeated. */
  readonly token: string
  /** 1–32 characters of A-Z a-z 0-9 -, never repeated. */
  readonly writeId: string
  /** Owned by the creator until now + leaseMs, or waiting for anyone at now + dueInMs. */
  readonly hold:
    | { readonly type: 'owned'; readonly leaseMs: number }
    | { readonly type: 'waiting'; readonly dueInMs: number }
  readonly sentList: SentList
}

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
   * 1 when created, greater with each claim and each update. A store that can lose its tail under a living runner
   * takes max(version + 1, now), so that no lost version is issued again.
   */
  readonly version: number
  readonly token: string
  /** 1 when created, one more with each claim. */
  readonly epoch: number
  readonly writeId: string
  /** An owner holds it; `dueAt` is his lease end. */
  readonly owned: boolean
  readonly sentList: SentList
  /** Claims since the last update. */
  readonly claimsWithoutProgress: number
  readonly retrying: boolean
  readonly attention: boolean
  readonly createdAt: number
  readonly updatedAt: number
  /** Unfinished: when someone must look. Finished: when it may be purged. */
  readonly dueAt: number
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
  /** Absent: unchanged. */
  readonly sentList?: SentList
  readonly hold: UpdateHold
}

export type UpdateHold =
  /** The owner goes on: ownership and due instant stay. */
  | { readonly type: 'keep' }
  /** The owner gives the row back until `dueAt`. */
  | { readonly type: 'release'; readonly dueAt: number }
  /** Final: not live any more, purged after the retention. */
  | { readonly type: 'finish'; readonly retentionMs: number | 'never' }
  /** By a node that does not hold it: an owner keeps it, a waiting row becomes due at `dueAt` (default now). */
  | { readonly type: 'command'; readonly dueAt?: number }

export type UpdateResult =
  | { readonly type: 'saved'; readonly version: number; readonly now: number }
  /** Another token: drop it, touch nothing. */
  | { readonly type: 'fenced' }
  /** Same token, other version: someone gave a command. */
  | { readonly type: 'conflict'; readonly version: number }
  | { readonly type: 'absent' }

export interface Lease {
  readonly gid: Gid
  readonly token: string
}

export interface RenewResult {
  readonly now: number
  readonly renewed: readonly { readonly gid: Gid; readonly version: number }[]
  /** Another token, given back, postponed, final, or gone. */
  readonly lost: readonly Gid[]
}

export interface DueClaim {
  /** At most CLAIM_MAX. */
  readonly limit: number
  readonly leaseMs: number
  /** One fresh token for each row, `limit` of them. */
  readonly tokens: readonly string[]
  /** Rows of a newer format are left alone. */
  readonly formatMax: number
}

export interface DueClaimResult {
  readonly now: number
  /** As they are after the claim. */
  readonly claimed: readonly StoredTransaction[]
  /** More may be due, though fewer than `limit` were taken: a store bounds what one answer holds. */
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
  /** At most POSTPONE_MAX. */
  readonly limit: number
  /** At least 1. */
  readonly byMs: number
  /** Rows of a newer format are left alone. */
  readonly formatMax: number
}

export interface DuePostponementResult {
  /** The rows are due again byMs after this instant, or a little later. */
  readonly now: number
  /** In the order in which they were due. */
  readonly gids: readonly Gid[]
  /** More may be due, though fewer than `limit` were moved: a store bounds what one call does. */
  readonly mayBeMore?: boolean
}

export interface ListCursor {
  readonly createdAt: number
  readonly gid: Gid
}

export interface ListQuery {
  readonly limit: number
  /** Rows strictly older than this pair. */
  readonly cursor?: ListCursor
  readonly status?: readonly Status[]
  readonly kind?: Kind
  readonly retrying?: boolean
  readonly attention?: boolean
  /** Inclusive. */
  readonly createdFrom?: number
  /** Exclusive. */
  readonly createdTo?: number
}

export type ListedTransaction = Pick<
  StoredTransaction,
  'gid' | 'kind' | 'status' | 'createdAt' | 'updatedAt' | 'dueAt' | 'epoch' | 'retrying' | 'attention'
>

export interface ListResult {
  readonly items: readonly ListedTransaction[]
  /** Absent when there is nothing older. */
  readonly cursor?: ListCursor
}

export interface StoreStats {
  readonly now: number
  readonly unfinished: Readonly<Record<UnfinishedStatus, number>>
  /** The oldest due instant among unfinished rows. */
  readonly oldestDueAt?: number
  /** Unfinished rows with attention. */
  readonly attention: number
}
