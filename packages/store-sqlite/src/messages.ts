import type { DurabilityClass, ListOrder, StoreEvent, UpdateHold } from '@counterstep/core'
import type { ErrorCode } from '@counterstep/protocol'
import type { Cell, Row } from './driver.ts'

// The messages between the main thread, the writer's thread and the reader's thread.

/**
 * A write is a short flat array, and a batch is an array of writes. The objects that callers pass would take three
 * times as long to clone into the worker (64 creates: 70 against 25 microseconds).
 */
export type Write =
  | CreateWrite
  | UpdateWrite
  | RenewWrite
  | ClaimDueWrite
  | ClaimWrite
  | PostponeDueWrite
  | PurgeWrite
  | WriteDocumentWrite
  | RemoveDocumentWrite

/** The fields are in the order of create.sql's parameters, gid to tags. */
export type CreateWrite = readonly [type: 'create', dueInMs: number, roomBytes: number, ...fields: Cell[]]
/** The fields are in the order of the save statements' parameters, write id to marks. */
export type UpdateWrite = readonly [
  type: 'update',
  hold: UpdateHold['type'],
  due: number | null,
  gid: string,
  token: string,
  version: number,
  writeId: string,
  ...fields: Cell[],
]
/** The leases are a gid and a token in turn. */
export type RenewWrite = readonly [type: 'renew', leaseMs: number, ...leases: string[]]
export type ClaimDueWrite = readonly [
  type: 'claimDue',
  formatMax: number,
  leaseMs: number,
  /** No further row is claimed once those before it have so many bytes. */
  bytesMax: number,
  ...tokens: string[],
]
export type ClaimWrite = readonly [
  type: 'claim',
  gid: string,
  token: string,
  formatMax: number,
  leaseMs: number,
]
export type PostponeDueWrite = readonly [type: 'postponeDue', formatMax: number, byMs: number, limit: number]
export type PurgeWrite = readonly [type: 'purge', limit: number]
export type WriteDocumentWrite = readonly [
  type: 'writeDocument',
  category: string,
  key: string,
  text: string,
  expectedVersion: number,
  writeId: string,
]
export type RemoveDocumentWrite = readonly [
  type: 'removeDocument',
  category: string,
  key: string,
  expectedVersion: number,
]

export type Read =
  | { readonly type: 'readMany'; readonly gids: readonly string[] }
  | { readonly type: 'findFinal'; readonly gids: readonly string[] }
  | {
      readonly type: 'list'
      readonly order: ListOrder
      /** The row has all of these. */
      readonly tags: readonly string[]
      readonly parameters: ListParameters
    }
  | { readonly type: 'stats'; readonly pausedBit: number }
  | { readonly type: 'freeBytes' }
  | { readonly type: 'documents'; readonly category: string; readonly after: string; readonly limit: number }

/** The names are those in list.sql. With null every row passes. */
export interface ListParameters {
  readonly createdFrom: number
  readonly createdTo: number
  readonly cursorAt: number
  readonly cursorGid: string
  readonly rowsMax: number
  readonly kind: number | null
  readonly retrying: number | null
  readonly attention: number | null
  readonly statusBits: number | null
  readonly gidPrefix: string | null
  readonly name: string | null
  readonly problem: string | null
  readonly markBits: number
  /** It is a list of texts in JSON. */
  readonly tagParts: string | null
  readonly matchesMax: number
}

/** Both threads of a file need these settings. */
export interface ReaderSettings {
  readonly path: string
  /** The address of a module that exports `openDatabase`. */
  readonly driverUrl: string
  /** It holds the state of a `ReadGate`. */
  readonly gate: SharedArrayBuffer
}

export interface WorkerSettings extends ReaderSettings {
  readonly synchronous: 'FULL' | 'NORMAL'
  /** The time of opening by the store's clock. */
  readonly now: number
  readonly cacheKibibytes: number
  // These are numbers of the contract. The worker gets them here, so that it loads only its driver and starts in half
  // the time.
  readonly parkedAt: number
  readonly neverAt: number
  readonly documentsMax: number
}

export type Request =
  | {
      readonly type: 'write'
      readonly now: number
      readonly writes: readonly Write[]
      readonly rows: number
      readonly bytes: number
    }
  | { readonly type: 'close' }

export type ReadRequest =
  | { readonly type: 'read'; readonly id: number; readonly read: Read }
  | { readonly type: 'close' }

export type ReadReply =
  | { readonly type: 'read'; readonly id: number; readonly rows: readonly Row[] }
  | { readonly type: 'notRead'; readonly id: number; readonly message: string }

export type Reply =
  | {
      readonly type: 'opened'
      readonly durabilityClass: DurabilityClass
      readonly warnings: readonly StoreEvent[]
    }
  | { readonly type: 'refused'; readonly code: ErrorCode; readonly message: string }
  | { readonly type: 'written'; readonly results: readonly WriteResult[] }
  /** The batch was rolled back, so the file holds nothing of it. */
  | { readonly type: 'notWritten'; readonly message: string }
  /** The outcome of the batches under way is unknown, and so is the outcome of all later ones. */
  | { readonly type: 'broken'; readonly message: string }
  | { readonly type: 'closed' }

/** The outcome of one write. It is a `RowError` if the row itself was at fault. */
export type WriteResult = number | string | Row | readonly Row[] | RowError

export interface RowError {
  readonly error: string
}
