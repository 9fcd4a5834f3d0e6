import type { StoredTransaction, TransactionUpdate, UpdateResult } from '../ports/store.ts'
import type { CallKey, Command, TransactionEvent } from '../rules/events.ts'
import type { Grant } from './run.ts'

/** What may happen to a run. */
export type RunEvent =
  /** It has just been accepted or claimed, or its timer is due. */
  | { readonly type: 'tick' }
  | Extract<TransactionEvent, { readonly type: 'answered' | 'held-back' }>
  | { readonly type: 'saved'; readonly result: UpdateResult }
  | { readonly type: 'renewed'; readonly grant: Grant; readonly version: number }
  /** The store says that someone else has it, or that it is gone. */
  | { readonly type: 'lease-lost' }
  | { readonly type: 'reread'; readonly row: StoredTransaction | undefined }
  | { readonly type: 'command'; readonly command: Command }
  /** The node stops: give it back when the calls in flight have ended, or at once. */
  | { readonly type: 'drain'; readonly when: 'when-calls-end' | 'now' }

/** What the engine is to do. */
export type RunEffect =
  | { readonly type: 'call'; readonly call: CallKey; readonly attempt: number }
  /** The write id is the engine's to draw; a save whose outcome is unknown is sent again as it is. */
  | { readonly type: 'save'; readonly update: Omit<TransactionUpdate, 'writeId'> }
  | { readonly type: 'reread' }
  /** Tick no later than this, by the node's clock. */
  | { readonly type: 'wake-at'; readonly at: number }
  /** Changes up to this number are durable: who waits for them may be told. */
  | { readonly type: 'durable'; readonly changed: number }
  | {
      readonly type: 'ended'
      /** `finished`: final and durable. `released`: given back. `lost`: another has it, or it is gone. */
      readonly how: 'finished' | 'released' | 'lost'
      readonly dueAt?: number
    }
