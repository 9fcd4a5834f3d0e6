import type { HeldCall, Run } from '@counterstep/core'
import type { Admission } from './bulkhead/admission.ts'
import type { HeldPlaces } from './bulkhead/held-places.ts'
import type { Target } from './bulkhead/target.ts'

/** A transaction that this node runs, and who waits on it here. */
export interface Held {
  run: Run
  /** The earliest tick that is already arranged. */
  tickAt: number
  /** Claimed, not accepted here. */
  readonly isRecovered: boolean
  /** Of the targets that it waits for. */
  readonly places: HeldPlaces
  /** The places that its submit has taken, until its first call. */
  readonly admission: Admission | undefined
  /** Calls that have found no room in the step that is under way, or in one since which nothing else has run. */
  noRoomFor: NoRoom[] | undefined
  /** It has ended here, and what it held was given back. */
  hasLeft: boolean
  /** Told when a change is durable, or with false when the run ended before that. */
  readonly onDurable: { readonly change: number; readonly tell: (durable: boolean) => void }[]
}

export interface NoRoom extends HeldCall {
  readonly target: Target
}
