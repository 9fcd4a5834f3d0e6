import type { HeldCall, LargeRowTurn, Run } from '@counterstep/core'
import type { Admission } from './bulkhead/admission.ts'
import type { HeldPlaces } from './bulkhead/held-places.ts'
import type { Target } from './bulkhead/target.ts'
import type { RunSpan } from './tracer.ts'

/** A transaction that this node runs, with its places and the callers that wait for it. */
export interface ActiveRun {
  run: Run
  /** The earliest tick for which an alarm is set. */
  tickAt: number
  /** It was claimed with others, and neither accepted here nor claimed before a backlog. */
  readonly isRecovered: boolean
  /** The number of places by the size of its row when it came. */
  readonly claimedPlaces: number
  /** Its places at the targets whose answers it waits for. */
  readonly places: HeldPlaces
  /** The number of places that it takes at each target, by the size of its row when it came, without kept values. */
  readonly rowPlaces: number
  /** The places of the values that it keeps now. */
  valuePlaces: number
  /** The places of the progress that was written last. */
  progressPlaces: number
  /** The turn at which its row comes back, if it is large and a call of it was not answered. */
  largeRowTurn: LargeRowTurn | undefined
  /** Its next plan call has waited for its turn already, here or in the store. */
  hasPlanTurn: boolean
  /** Present if the host traces. */
  readonly span: RunSpan | undefined
  /** The places that its submit has taken, until its first call. */
  readonly admission: Admission | undefined
  /** The calls of the last step that found no place and are not reported to the core yet. */
  noRoomFor: NoRoom[] | undefined
  /** One of its calls is left to another function, so it starts no more calls here. */
  isHandedOver: boolean
  /** It has ended here, and its places were given back. */
  hasLeft: boolean
  /** Callers that are told when a change is durable, or told false when the run ends before that. */
  readonly onDurable: { readonly change: number; readonly tell: (durable: boolean) => void }[]
}

/** Counts the places that the row takes now at each target. */
export function countPlaces({ rowPlaces, valuePlaces, progressPlaces }: ActiveRun): number {
  return Math.max(rowPlaces + valuePlaces, progressPlaces)
}

export interface NoRoom extends HeldCall {
  readonly target: Target
}
