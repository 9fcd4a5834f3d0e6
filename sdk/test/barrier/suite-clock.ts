/** This is the clock of the fixtures' barriers. A test sets it back to make rows of long ago, and forward again. */
export const suiteClock = {
  behindMs: 0,
  now: (): number => Date.now() - suiteClock.behindMs,
}

const DAY_MS = 24 * 3_600_000

/** The options by which `purgeBarrier` deletes the rows with an earlier instant. */
export function purging(before: number) {
  return { now: () => before + DAY_MS, retentionMs: DAY_MS }
}
