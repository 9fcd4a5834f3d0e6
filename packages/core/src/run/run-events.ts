import type { StoredTransaction, TransactionUpdate, UpdateResult } from '../ports/store.ts'
import type { CallKey, Command, TransactionEvent } from '../rules/events.ts'
import type { Grant } from './run.ts'

/** The events that may happen to a run. */
export type RunEvent =
  /** The transaction has just been accepted or claimed, or its timer is due. */
  | { readonly type: 'tick' }
  | Extract<TransactionEvent, { readonly type: 'answered' | 'held-back' }>
  | { readonly type: 'saved'; readonly result: UpdateResult }
  | { readonly type: 'renewed'; readonly grant: Grant; readonly version: number }
  /** The store says that another node owns the row, or that the row is gone. */
  | { readonly type: 'lease-lost' }
  | { readonly type: 'reread'; readonly row: StoredTransaction | undefined }
  | { readonly type: 'command'; readonly command: Command }
  /** The node stops: the row is given back when the calls in flight have ended, or at once. */
  | { readonly type: 'drain'; readonly when: 'when-calls-end' | 'now' }

/** The actions that the engine has to take. */
export type RunEffect =
  | { readonly type: 'call'; readonly call: CallKey; readonly attempt: number }
  /** The engine draws the write id. A save whose outcome is unknown is sent again unchanged. */
  | {
      readonly type: 'save'
      readonly update: Omit<TransactionUpdate, 'writeId'>
      /** A large row takes its turn: no other one may come back from a wait before this instant, by the node's clock. */
      readonly nextLargeRowAt?: number
    }
  | { readonly type: 'reread' }
  /** The engine must send a tick no later than this, by the node's clock. */
  | { readonly type: 'wake-at'; readonly at: number }
  /** Changes up to this number are durable, so callers that wait for them may be told. */
  | { readonly type: 'durable'; readonly lastSavedChange: number }
  | {
      readonly type: 'ended'
      /**
       * `finished`: it is final and durable. `released`: it was given back.
       * `lost`: another node owns it, or it is gone.
       */
      readonly how: 'finished' | 'released' | 'lost'
      readonly dueAt?: number
    }
