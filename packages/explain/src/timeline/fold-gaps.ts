/** A stretch of time and where it is drawn. Positions are shares of the width, 0 to 1. */
export interface Piece {
  readonly from: number
  readonly to: number
  readonly left: number
  readonly right: number
  /** So much longer than all shorter stretches together that it is drawn with a fixed width. */
  readonly isFolded: boolean
}

/** A stretch is folded if it is this many times as long as all that are shorter than it. */
const FOLDED_FACTOR = 4
/** A shorter stretch is never folded. */
const FOLDED_MS_MIN = 200
/** The width of one folded stretch, and of all of them together. */
const FOLDED_SHARE = 0.12
const FOLDED_SHARE_MAX = 0.55

/**
 * Lays out a time line on which calls of milliseconds and waits of an hour are both seen. The stretches between two
 * neighbouring instants keep their proportions, but those that would push all others together get a fixed width.
 */
export function foldGaps(instants: readonly number[]): readonly Piece[] {
  const sorted = [...new Set(instants)].sort((a, b) => a - b)
  const stretches = sorted.slice(1).map((to, index) => ({ from: sorted[index] ?? to, to }))
  if (stretches.length === 0) return []
  const foldedFrom = findFoldedLength(stretches.map(({ from, to }) => to - from))
  const isFolded = ({ from, to }: { from: number; to: number }) => to - from >= foldedFrom
  const foldedCount = stretches.filter(isFolded).length
  const others = stretches.length - foldedCount
  const share =
    others === 0 ? 1 / foldedCount : Math.min(FOLDED_SHARE, FOLDED_SHARE_MAX / Math.max(1, foldedCount))
  const linearMs = stretches
    .filter((each) => !isFolded(each))
    .reduce((sum, { from, to }) => sum + to - from, 0)
  const linearShare = 1 - share * foldedCount
  let left = 0
  return stretches.map((stretch) => {
    const folded = isFolded(stretch)
    const width = folded ? share : (linearShare * (stretch.to - stretch.from)) / linearMs
    const piece = { ...stretch, left, right: left + width, isFolded: folded }
    left = piece.right
    return piece
  })
}

/** Finds the shortest length that is folded. Infinity: none is. */
function findFoldedLength(lengths: readonly number[]): number {
  let sum = 0
  for (const length of [...lengths].sort((a, b) => a - b)) {
    if (sum > 0 && length > FOLDED_MS_MIN && length > FOLDED_FACTOR * sum) return length
    sum += length
  }
  return Number.POSITIVE_INFINITY
}

/** Where an instant is drawn: a share of the width. What lies outside is drawn at the edge. */
export function toShare(pieces: readonly Piece[], at: number): number {
  const piece = pieces.find(({ to }) => at <= to)
  if (piece === undefined) return pieces.length === 0 ? 0 : 1
  if (at <= piece.from) return piece.left
  return piece.left + ((at - piece.from) / (piece.to - piece.from)) * (piece.right - piece.left)
}
