import type { DurabilityClass } from '@counterstep/core'
import type { ErrorCode } from '@counterstep/protocol'
import type { Row } from './driver.ts'

/**
 * What the two threads say to each other. A batch is one flat array in one message: sixty-four creates as one array
 * are cloned in half the time that sixty-four objects take.
 */
export const WRITE = { create: 0, update: 1, renew: 2, claimDue: 3, claim: 4, purge: 5 } as const
/** `update`'s hold; also the index of its statement. */
export const HOLD = { keep: 0, release: 1, finish: 2, command: 3 } as const

export type Read =
  | { readonly type: 'readMany'; readonly gids: readonly string[] }
  | { readonly type: 'list'; readonly parameters: ListParameters }
  | { readonly type: 'stats' }

/** Named as in list.sql; null: every row passes. */
export interface ListParameters {
  readonly createdFrom: number
  readonly createdTo: number
  readonly cursorAt: number
  readonly cursorGid: string
  readonly scanRowsMax: number
  readonly kind: number | null
  readonly retrying: number | null
  readonly attention: number | null
  readonly statusBits: number | null
  readonly matchesMax: number
}

export interface WorkerSettings {
  readonly path: string
  /** The address of a module that exports `openDatabase`. */
  readonly driverUrl: string
  readonly synchronous: 'FULL' | 'NORMAL'
  /** The instant of opening, by the store's clock. */
  readonly now: number
  readonly cacheKibibytes: number
  // The contract's two instants. The worker loads nothing but its driver, and so starts in half the time.
  readonly parkedAt: number
  readonly neverAt: number
}

export type Request =
  | {
      readonly type: 'write'
      readonly now: number
      readonly cells: readonly unknown[]
      readonly rows: number
      readonly bytes: number
    }
  | { readonly type: 'read'; readonly id: number; readonly read: Read }
  | { readonly type: 'close' }

export type Reply =
  | { readonly type: 'opened'; readonly durabilityClass: DurabilityClass }
  | { readonly type: 'refused'; readonly code: ErrorCode; readonly message: string }
  | { readonly type: 'written'; readonly results: readonly WriteResult[] }
  /** Rolled back: nothing of the batch is in the file. */
  | { readonly type: 'notWritten'; readonly message: string }
  | { readonly type: 'read'; readonly id: number; readonly rows: readonly Row[] }
  | { readonly type: 'notRead'; readonly id: number; readonly message: string }
  /** Nothing can be said of what was under way, nor of anything later. */
  | { readonly type: 'broken'; readonly message: string }
  | { readonly type: 'closed' }

/** What one write came to; `RowError` if the row itself was at fault. */
export type WriteResult = number | string | Row | readonly Row[] | RowError

export interface RowError {
  readonly error: string
}
