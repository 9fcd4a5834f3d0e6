/**
 * Decides how much of a bounded number of places one target may use, so that a target that hangs cannot stop the others. A
 * target is the origin at which a branch is called. It is listed where the configuration names its origin, so the number
 * of listed targets is small. Clients name all other targets, and may use as many names as they like.
 */

/** This many targets that are not listed are counted one by one at the same time. */
export const UNLISTED_TARGETS_MAX = 112
/** All further targets are spread over this many shared counters. */
export const SHARED_TARGETS = 16
/** The part of the places that is reserved for targets which use almost none. */
const RESERVED_PART = 1 / 4
/** The part of the reserved places that is kept for the listed targets, if there are any. */
const RESERVED_FOR_LISTED_PART = 1 / 2

/** The rule for one pool of places. */
export interface ShareBounds {
  readonly placesMax: number
  /**
   * The part, in (0, 1], of the unreserved places that one target may use while no other uses any. With 1 there is no
   * limit.
   */
  readonly share: number
  readonly reserved: number
  /**
   * A listed target that uses fewer places than this takes any free place,
   * so the other targets can never deny it these.
   */
  readonly guaranteed: number
  /**
   * The same number for a target that is not listed. It is 0 where the listed
   * targets need all the reserved places of a small pool.
   */
  readonly guaranteedUnlisted: number
  /** Whether all targets that are not listed together may use no more than one listed target. */
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
 * Whether a listed target that uses `held` places may take one more while `free` places are left.
 *
 * The limit falls with the number of free places, as the dynamic thresholds of shared-memory switches do (Choudhury and
 * Hahne, 1998): with a fixed limit of a half, two targets that hang would take everything. Here, with a share of a
 * half, one target gets at most half of the unreserved places, and two that hang at the same time get a third each.
 * Targets that begin to hang one after the other could still halve the rest each time and never give it back; but they
 * cannot reach the reserved places.
 */
export function mayTakePlace(held: number, free: number, bounds: ShareBounds): boolean {
  if (held < bounds.guaranteed) return free > 0
  return held * (1 - bounds.share) < (free - bounds.reserved) * bounds.share
}

/**
 * Whether a target that is not listed may take one more place, while all such targets together use `heldUnlisted`. All
 * of them together may have no more than one listed target, and each of them may have its share of that. So a client
 * that invents names cannot take the places of the listed targets. Without a list the limit of a listed target applies.
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
 * Returns the rule for a transaction that already runs and goes on to its next target. Its share is larger than that of a
 * submit, so that transactions under way get the places of a busy target first, and new ones are refused.
 */
export function toBoundsUnderWay(bounds: ShareBounds): ShareBounds {
  return { ...bounds, share: (1 + bounds.share) / 2 }
}
