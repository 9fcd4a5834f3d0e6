import {
  type Clock,
  type Grant,
  type Ids,
  RULES,
  type RunSettings,
  type Store,
  type StoredTransaction,
  type TakeOver,
  takeOver,
} from '@counterstep/core'
import { countRowPlaces } from './bulkhead/count-row-places.ts'
import type { EngineObserver } from './observer.ts'
import type { Runner } from './runner.ts'
import { untilDefinite } from './until-definite.ts'

export interface TakeOverParts {
  readonly store: Store
  readonly runner: Runner
  readonly clock: Clock
  readonly ids: Ids
  readonly observer: EngineObserver
  readonly run: RunSettings
}

export type TakenOver =
  | { readonly type: 'runs' }
  /** It has ended here already, or a bug stopped it and its lease runs out. */
  | { readonly type: 'ended' }
  /** `done` never rejects. */
  | { readonly type: 'giving-back'; readonly done: Promise<void> }

/** Starts claimed rows here, or gives rows that cannot run back at once. */
export class TakeOvers {
  readonly #parts: TakeOverParts
  readonly #isStopped: () => boolean

  constructor(parts: TakeOverParts, isStopped: () => boolean) {
    this.#parts = parts
    this.#isStopped = isStopped
  }

  take(row: StoredTransaction, grant: Grant, isPrompt = false): TakenOver {
    const { runner, run, observer } = this.#parts
    const { gid } = row
    try {
      const taken = takeOver(RULES, row, run, grant)
      if (taken.type !== 'run') {
        return { type: 'giving-back', done: this.#giveBack(row, taken, grant.sentAt + run.leaseMs) }
      }
      const places = countRowPlaces(row)
      // Large rows keep the pace of claimed ones, whatever they were claimed for.
      const claimed = { claimMs: grant.now - grant.sentAt, isPrompt: isPrompt && places === 1 }
      runner.start(taken.run, claimed, places)
      return { type: runner.isRunning(gid) ? 'runs' : 'ended' }
    } catch (error: unknown) {
      // This is a bug with this row. Its lease runs out, and the other rows go on.
      observer.event({ level: 'error', name: 'take-over-failed', gid, error })
      return { type: 'ended' }
    }
  }

  async #giveBack(
    { gid }: StoredTransaction,
    { reason, update, ...given }: Exclude<TakeOver, { type: 'run' }>,
    leaseUntil: number,
  ): Promise<void> {
    const { store, clock, ids, observer } = this.#parts
    const name = given.type === 'rest' ? 'transaction-rests' : 'transaction-parked'
    const trace = given.type === 'rest' ? given.trace : undefined
    observer.event({ level: 'error', name, gid, trace, detail: reason })
    const write = { ...update, writeId: ids.writeId() }
    try {
      await untilDefinite(
        clock,
        () => store.update(write),
        // After that another claim decides about the row.
        () => this.#isStopped() || clock.now() >= leaseUntil,
      )
    } catch (error: unknown) {
      observer.event({ level: 'error', name: 'give-back-failed', gid, trace, error })
    }
  }
}
