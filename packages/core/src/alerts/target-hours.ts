/** Bounds what one target is told. */
import type { TargetHour } from './alert-state.ts'

/** A target gets this many messages in an hour. The last one says how many others were held back. */
export const TARGET_HOUR_MAX = 20
export const TARGET_HOUR_MS = 3_600_000

/** Counts an alert for a target, which gets it only if `isSent`. */
export function countForTarget(
  hours: readonly TargetHour[],
  target: string,
  now: number,
): { readonly hours: readonly TargetHour[]; readonly isSent: boolean } {
  const known = hours.find((each) => each.target === target)
  const hour = known ?? { target, startedAt: now, sent: 0, heldBack: 0 }
  const isSent = hour.sent < TARGET_HOUR_MAX - 1
  const counted = isSent ? { ...hour, sent: hour.sent + 1 } : { ...hour, heldBack: hour.heldBack + 1 }
  return { hours: [...hours.filter((each) => each.target !== target), counted], isSent }
}

/** Separates the hours that have ended. Those of them that held something back are told. */
export function endHours(
  hours: readonly TargetHour[],
  now: number,
): { readonly running: readonly TargetHour[]; readonly ended: readonly TargetHour[] } {
  const hasEnded = ({ startedAt }: TargetHour) => now - startedAt >= TARGET_HOUR_MS
  return {
    running: hours.filter((each) => !hasEnded(each)),
    ended: hours.filter((each) => hasEnded(each) && each.heldBack > 0),
  }
}
