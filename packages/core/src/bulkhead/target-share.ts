/**
 * How much of a bounded number of places one target (the origin that a branch is called at) may hold, so that a target
 * that hangs cannot stop the others. A target is listed where the configuration names its origin; there are as many of
 * these as an operator has written down. All others are named by callers, who may have as many names as they like.
 */

/** Targets that are told apart at once besides the listed ones; */
export const UNLISTED_TARGETS_MAX = 112
/** what is beyond them is spread over so many more counters. */
export const SHARED_TARGETS = 16
/** The part of the places that is kept for targets which hold next to nothing. */
const RESERVED_PART = 1 / 4
/** The part of these that is kept for the listed targets, if there are any. */
const RESERVED_FOR_LISTED_PART = 1 / 2

/** The rule for one pool of places. */
export interface ShareBounds {
  readonly placesMax: number
  /** In (0, 1]: what one target may hold of the places that are not reserved, while no other holds any. 1: no rule. */
  readonly share: number
  readonly reserved: number
  /** A listed target that holds fewer takes any free place, so the others can never leave it without these. */
  readonly guaranteed: number
  /** The same of one that is not listed. It is none where listed targets need what is reserved of a small number of places. */
  readonly guaranteedUnlisted: number
  /** All that are not listed together hold no more than one listed target may. */
  readonly boundsUnlisted: boolean
}

export function shareBounds(placesMax: number, share: number, listedTargets = 0): ShareBounds {
  const boundsUnlisted = listedTargets > 0 && share < 1
  if (share >= 1)
    return { placesMax, share: 1, reserved: 0, guaranteed: 0, guaranteedUnlisted: 0, boundsUnlisted }
  const reserved = Math.floor(placesMax * RESERVED_PART)
  const forListed = boundsUnlisted ? reserved * RESERVED_FOR_LISTED_PART : 0
  const most = Math.max(1, Math.floor((placesMax - reserved) * share))
  const each = (places: number, targets: number, least: number) =>
    Math.min(most, Math.max(least, Math.floor(places / targets)))
  const unlistedTargets = UNLISTED_TARGETS_MAX + SHARED_TARGETS
  return {
    placesMax,
    share,
    reserved,
    guaranteed: each(forListed, Math.max(1, listedTargets), 1),
    guaranteedUnlisted: each(reserved - forListed, unlistedTargets, boundsUnlisted ? 0 : 1),
    boundsUnlisted,
  }
}

/**
 * Whether a listed target that holds `held` places may take one more while `free` places are left.
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
 * The same of a target that is not listed, where all of these hold `heldUnlisted`. Each may have its share of what all of
 * them may have, which is no more than one listed target: so names that cost nothing leave the listed targets their places.
 * Without a list there is nothing to keep from them.
 */
export function mayTakeUnlistedPlace(
  held: number,
  heldUnlisted: number,
  free: number,
  bounds: ShareBounds,
): boolean {
  if (held < bounds.guaranteedUnlisted) return free > 0
  const { share } = bounds
  const shared = (free - bounds.reserved) * share
  if (!bounds.boundsUnlisted) return held * (1 - share) < shared
  return held * (1 - share) ** 2 < (shared - heldUnlisted * (1 - share)) * share
}

/**
 * The rule for a transaction that already runs and goes on to its next target. Its share is larger than that of a submit,
 * so that a target which is only busy is filled by what has begun, and refuses what is new.
 */
export function boundsUnderWay(bounds: ShareBounds): ShareBounds {
  return { ...bounds, share: (1 + bounds.share) / 2 }
}
