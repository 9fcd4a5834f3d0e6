/**
 * The faults that a standard queue may do to a message, and their shares. Shares are from 0 to 1, add up to at most 1,
 * and are read at each message.
 */
export interface SqsFaults {
  readonly seed: number
  /** The share that is deleted unseen. A queue must not do that; an operator who empties it does. */
  readonly lostShare: number
  /** Delivered twice, at the same time where the concurrency allows. */
  readonly doubledShare: number
  /** Held back for up to `delayMsMax`; the visibility timeout runs meanwhile. */
  readonly delayedShare: number
  readonly delayMsMax: number
}

export type MessageFate =
  | { readonly type: 'delivered' | 'lost' | 'doubled' }
  | { readonly type: 'delayed'; readonly delayMs: number }

const DELIVERED: MessageFate = { type: 'delivered' }

/** So few messages have their share of what may happen to them. */
const STRATA = 10

/** The fate of one message after the other, the same for the same seed. */
export function drawFates(faults: SqsFaults | undefined): () => MessageFate {
  if (faults === undefined) return () => DELIVERED
  const draw = seededDraws(faults.seed)
  const drawLot = stratifiedLots(draw)
  return () => {
    const { lostShare, doubledShare, delayedShare, delayMsMax } = faults
    const lot = drawLot()
    // Drawn in any case, so that a share that is changed does not change what the others meet.
    const delayMs = Math.round(draw() * delayMsMax)
    if (lot < lostShare) return { type: 'lost' }
    if (lot < lostShare + doubledShare) return { type: 'doubled' }
    if (lot < lostShare + doubledShare + delayedShare) return { type: 'delayed', delayMs }
    return DELIVERED
  }
}

/** Draws numbers from 0 up to 1. Ten that follow one another have one in each tenth. */
function stratifiedLots(draw: () => number): () => number {
  const strata: number[] = []
  return () => {
    if (strata.length === 0) strata.push(...Array(STRATA).keys())
    const [stratum = 0] = strata.splice(Math.floor(draw() * strata.length), 1)
    return (stratum + draw()) / STRATA
  }
}

/** Numbers from 0 up to 1 (mulberry32). */
function seededDraws(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let bits = Math.imul(state ^ (state >>> 15), state | 1)
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61)
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32
  }
}
