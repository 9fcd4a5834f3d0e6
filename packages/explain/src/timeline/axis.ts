import { formatDuration } from '../durations.ts'
import { type Piece, toShare } from './fold-gaps.ts'

export interface Tick {
  readonly share: number
  readonly label: string
  /** It stands in the middle of a folded stretch and says how long that is. */
  readonly isFold: boolean
  /** Here the transaction turned around. */
  readonly isTurn?: true
}

const STEPS = [1, 2, 5]
/** Labels that are nearer than this share of the width would touch. */
const DISTANCE_MIN = 0.09
const DISTANCE_MIN_NARROW = 0.24
const TICKS_MAX = 6
const TICKS_MAX_NARROW = 3

export interface AxisMarks {
  readonly isNarrow?: boolean
  readonly turnedAt?: number | undefined
  /** It is marked while the transaction goes on. */
  readonly now?: number | undefined
}

/** Chooses what stands above the waterfall: round distances from the start, and the length of each folded stretch. */
export function chooseTicks(
  pieces: readonly Piece[],
  { isNarrow = false, turnedAt, now }: AxisMarks = {},
): readonly Tick[] {
  const start = pieces[0]?.from
  if (start === undefined) return []
  const folds = pieces.filter(({ isFolded }) => isFolded).map(toFoldTick)
  const linear = joinLinear(pieces)
  const totalMs = linear.reduce((sum, { from, to }) => sum + to - from, 0)
  const stepMs = chooseStep(totalMs, isNarrow ? TICKS_MAX_NARROW : TICKS_MAX)
  const round = linear.flatMap((piece) => listRoundTicks(piece, stepMs, piece.from === start ? '+' : '… +'))
  const turn = turnedAt === undefined ? [] : [toTurnTick(toShare(pieces, turnedAt))]
  const present = now === undefined ? [] : [{ share: toShare(pieces, now), label: 'now', isFold: false }]
  const distanceMin = isNarrow ? DISTANCE_MIN_NARROW : DISTANCE_MIN
  return keepApart(
    [...turn, ...present, ...folds, { share: 0, label: '0', isFold: false }, ...round],
    distanceMin,
  )
}

function toFoldTick({ from, to, left, right }: Piece): Tick {
  return { share: (left + right) / 2, label: formatDuration(to - from), isFold: true }
}

function toTurnTick(share: number): Tick {
  return { share, label: '↺ turned around', isFold: false, isTurn: true }
}

/** Neighbouring stretches that are not folded are one stretch for the eye. */
function joinLinear(pieces: readonly Piece[]): readonly Piece[] {
  const joined: Piece[] = []
  let isOpen = false
  for (const piece of pieces) {
    const last = joined.at(-1)
    if (!piece.isFolded && isOpen && last !== undefined) {
      joined[joined.length - 1] = { ...last, to: piece.to, right: piece.right }
    } else if (!piece.isFolded) joined.push(piece)
    isOpen = !piece.isFolded
  }
  return joined
}

export function chooseStep(totalMs: number, ticksMax: number): number {
  const least = Math.max(totalMs / ticksMax, 1)
  const power = 10 ** Math.floor(Math.log10(least))
  const factor = STEPS.find((step) => step * power >= least) ?? 10
  return factor * power
}

/** After a fold the distances count from its end, since those from the start would all read the same. */
function listRoundTicks({ from, to, left, right }: Piece, stepMs: number, sign: string): readonly Tick[] {
  const ticks: Tick[] = []
  for (let at = from + stepMs; at <= to; at += stepMs) {
    const share = left + ((at - from) / (to - from)) * (right - left)
    ticks.push({ share, label: `${sign}${formatDuration(at - from)}`, isFold: false })
  }
  return ticks
}

/** The earlier ones in the list go before. */
function keepApart(ticks: readonly Tick[], distanceMin: number): readonly Tick[] {
  const kept: Tick[] = []
  for (const tick of ticks) {
    if (kept.every(({ share }) => Math.abs(share - tick.share) >= distanceMin)) kept.push(tick)
  }
  return kept.sort((a, b) => a.share - b.share)
}
