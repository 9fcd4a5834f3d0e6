/**
 * Counts how long the calls to one target have held a function lately. A function serves no other caller while it waits for a
 * call, so one target may hold it for a small part of the time only. Calls that are answered quickly count nothing, and
 * what was counted is forgotten at an even pace.
 */

export interface HeldTime {
  /** The time that was counted and is not forgotten yet, as of `at`. */
  readonly heldMs: number
  readonly at: number
  /** Until here all time is counted, so that calls beside each other count once. */
  readonly countedUntil: number
}

export interface HeldBounds {
  /** So much of each call counts nothing. */
  readonly freeMs: number
  /** A target that has more than this is not called here. */
  readonly heldMsMax: number
  /** This part of the time that passes is forgotten, so it is also the part that one target may hold in the long run. */
  readonly forgottenPart: number
}

export const NOTHING_HELD: HeldTime = {
  heldMs: 0,
  at: Number.NEGATIVE_INFINITY,
  countedUntil: Number.NEGATIVE_INFINITY,
}

/** A single call that hangs until it is cut after `quickCallMs` is over this bound, and one of half that length counts nothing. */
export function heldBoundsOfTarget(quickCallMs: number): HeldBounds {
  return { freeMs: quickCallMs / 2, heldMsMax: quickCallMs / 4, forgottenPart: 0.02 }
}

/** Names cost nothing, so all targets that the configuration does not name have these bounds together, too. */
export function heldBoundsOfUnlisted(quickCallMs: number): HeldBounds {
  return { freeMs: quickCallMs / 2, heldMsMax: quickCallMs, forgottenPart: 0.04 }
}

/** Counts a call that has ended at `endedAt`. */
export function countHeldTime(
  before: HeldTime,
  { startedAt, endedAt }: { readonly startedAt: number; readonly endedAt: number },
  bounds: HeldBounds,
): HeldTime {
  const from = Math.max(startedAt + bounds.freeMs, before.countedUntil)
  if (endedAt <= from) return before
  return {
    heldMs: readHeldMs(before, endedAt, bounds) + endedAt - from,
    at: endedAt,
    countedUntil: endedAt,
  }
}

/** Returns what is not forgotten at this instant. */
export function readHeldMs({ heldMs, at }: HeldTime, now: number, { forgottenPart }: HeldBounds): number {
  return heldMs === 0 ? 0 : Math.max(0, heldMs - Math.max(0, now - at) * forgottenPart)
}

/** Tells whether a target that has held the function for so long may be called here. */
export function mayHold(held: HeldTime, now: number, bounds: HeldBounds): boolean {
  return readHeldMs(held, now, bounds) <= bounds.heldMsMax
}
