/**
 * Decides when a caller is sent the next view over its live streams. A view is written once for all who watch, but it is
 * sent to each of them: forty streams of one key were sent 90 MB a second.
 */

/** So much is sent to all streams of one caller in the long run: 2 MB a second. */
const CHARACTERS_PER_MS = 2_000
/** A caller that was sent little is sent as much as it has missed within this time at once. */
const BURST_MS = 1_000

export interface LiveTurn {
  /** When this view may be sent. */
  readonly at: number
  /** When the next view may be sent, if the caller is sent nothing else before. */
  readonly nextAt: number
}

/** Returns the turn of a view of so many characters. The turns of one caller come in the order in which they are taken. */
export function takeLiveTurn(nextAt: number, now: number, characters: number): LiveTurn {
  const at = Math.max(nextAt, now - BURST_MS)
  return { at, nextAt: at + characters / CHARACTERS_PER_MS }
}
