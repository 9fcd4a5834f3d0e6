/**
 * How much of a bounded number of places one target (the origin that a branch is called at) may hold, so that a target
 * that hangs cannot stop the others.
 */

/** Targets that are told apart at once; all others together are one more. */
export const TARGETS_MAX = 128
/** The part of the places that is kept for targets which hold next to nothing. */
const RESERVED_PART = 1 / 4

/** The rule for one pool of places. */
export interface ShareBounds {
  /** In (0, 1]: what one target may hold of the places that are not reserved, while no other holds any. 1: no rule. */
  readonly share: number
  readonly reserved: number
  /** A target that holds fewer takes any free place, so the others can never leave it without these. */
  readonly guaranteed: number
}

export function shareBounds(placesMax: number, share: number): ShareBounds {
  if (share >= 1) return { share: 1, reserved: 0, guaranteed: 0 }
  const reserved = Math.floor(placesMax * RESERVED_PART)
  return { share, reserved, guaranteed: Math.max(1, Math.floor(reserved / (TARGETS_MAX + 1))) }
}

/**
 * Whether a target that holds `held` places may take one more while `free` places are left.
 *
 * The bound falls with what is free, as the dynamic thresholds of shared-memory switches do (Choudhury and Hahne, 1998):
 * a fixed bound of a half would be filled by two targets that hang. Here one target comes to a half of what is not
 * reserved, and two that hang at the same time come to a third each. Targets that begin to hang one after the other could
 * still halve what is left each time, and never give it back; the reserved places are out of their reach.
 */
export function mayTakePlace(held: number, free: number, bounds: ShareBounds): boolean {
  if (held < bounds.guaranteed) return free > 0
  return held * (1 - bounds.share) < (free - bounds.reserved) * bounds.share
}

/**
 * The rule for a transaction that already runs and goes on to its next target. Its share is larger than that of a submit,
 * so that a target which is only busy is filled by what has begun, and refuses what is new.
 */
export function boundsUnderWay(bounds: ShareBounds): ShareBounds {
  return { ...bounds, share: (1 + bounds.share) / 2 }
}
