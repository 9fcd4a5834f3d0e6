/**
 * A standard queue may do these faults to a message. Their shares are from 0 to 1 and add up to at most 1. They are read
 * anew for each message, so a test may change them.
 */
export interface SqsFaults {
  readonly seed: number
  /** This share is deleted before it is delivered. A queue must not do that, but an operator who empties it does. */
  readonly lostShare: number
  /** This share is delivered twice, at the same time if the concurrency allows it. */
  readonly doubledShare: number
  /** This share is delivered up to `delayMsMax` later, while the visibility timeout runs. */
  readonly delayedShare: number
  readonly delayMsMax: number
}

export type MessageFate =
  | { readonly type: 'delivered' | 'lost' | 'doubled' }
  | { readonly type: 'delayed'; readonly delayMs: number }

const DELIVERED: MessageFate = { type: 'delivered' }

/** Each group of this many messages has the given shares of the faults, so a short test meets them too. */
const STRATA = 10

/** Returns a function that draws the fate of the next message. The same seed gives the same fates. */
export function createFates(faults: SqsFaults | undefined): () => MessageFate {
  if (faults === undefined) return () => DELIVERED
  const draw = createSeededDraws(faults.seed)
  const drawLot = createStratifiedLots(draw)
  return () => {
    const { lostShare, doubledShare, delayedShare, delayMsMax } = faults
    const lot = drawLot()
    // The delay is drawn in any case, so that a changed share does not change the fates of other messages.
    const delayMs = Math.round(draw() * delayMsMax)
    if (lot < lostShare) return { type: 'lost' }
    if (lot < lostShare + doubledShare) return { type: 'doubled' }
    if (lot < lostShare + doubledShare + delayedShare) return { type: 'delayed', delayMs }
    return DELIVERED
  }
}

/** Returns a function that draws numbers from 0 up to 1. Each group of ten numbers has one in each tenth. */
function createStratifiedLots(draw: () => number): () => number {
  const strata: number[] = []
  return () => {
    if (strata.length === 0) strata.push(...Array(STRATA).keys())
    const [stratum = 0] = strata.splice(Math.floor(draw() * strata.length), 1)
    return (stratum + draw()) / STRATA
  }
}

/** Returns a function that draws numbers from 0 up to 1 by the algorithm mulberry32. */
function createSeededDraws(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let bits = Math.imul(state ^ (state >>> 15), state | 1)
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61)
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32
  }
}
