import {
  type Bar,
  formatDuration,
  type Ghost,
  type LaneBars,
  type Piece,
  toShare,
} from '@counterstep/explain'
import { Link } from '@tanstack/react-router'
import { Countdown } from '../parts/instant.tsx'
import { toPercent } from './to-percent.ts'

interface LaneProps {
  readonly gid: string
  readonly laneBars: LaneBars
  readonly pieces: readonly Piece[]
  readonly ghost: Ghost | undefined
}

const GLYPHS = {
  done: '✓',
  refused: '✗',
  unknown: '⚠',
  ongoing: '…',
  calling: '▸',
  open: '◷',
  hand: '☞',
} as const
/** A bar that begins later than this share has no room for its words at its right. */
const LABEL_LEFT_MIN = 0.72
/** A bar that is as wide has room for its words inside, where a lane has several. */
const LABEL_BAR_MIN = 0.09
/** A lane that begins before this share has no room at its left either. */
const LABEL_INSIDE_MAX = 0.3

export function WaterfallLane({ gid, laneBars, pieces, ghost }: LaneProps) {
  const { lane, bars, nextAt } = laneBars
  const last = bars.at(-1)
  return (
    <li className="lane" data-direction={lane.direction} data-first={lane.isFirst}>
      <Link
        from="/tx/$gid"
        to="/tx/$gid"
        params={{ gid }}
        search={(before) => ({ ...before, op: lane.id })}
        replace
        className="lane-link"
      >
        <span className="lane-label" title={lane.label}>
          {lane.label}
        </span>
        <span className="unseen">
          {lane.op.op}, {lane.op.state}, {lane.op.attempts} attempts
          {ghost === undefined ? '' : `; a healthy one took ${formatDuration(ghost.to - ghost.from)}`}
        </span>
      </Link>
      <div className="track" aria-hidden="true">
        {ghost === undefined ? null : <GhostShape ghost={ghost} pieces={pieces} />}
        {bars.map((bar) => (
          <BarShape
            key={`${bar.from} ${bar.label}`}
            bar={bar}
            pieces={pieces}
            words={bars.length === 1 ? '' : `${GLYPHS[bar.tone]} ${writeWords(bar, laneBars)}`}
          />
        ))}
        {nextAt === undefined || last === undefined ? null : (
          <NextAttempt from={toShare(pieces, last.to)} to={toShare(pieces, nextAt)} nextAt={nextAt} />
        )}
        {last === undefined ? (
          <IdleWords laneBars={laneBars} />
        ) : (
          <BarWords bar={last} laneBars={laneBars} pieces={pieces} />
        )}
      </div>
    </li>
  )
}

function GhostShape({ ghost, pieces }: { readonly ghost: Ghost; readonly pieces: readonly Piece[] }) {
  const [left, right] = [toShare(pieces, ghost.from), toShare(pieces, ghost.to)]
  return (
    <span
      className="ghost"
      style={{ left: toPercent(left), width: toPercent(right - left) }}
      title={`a healthy one took ${formatDuration(ghost.to - ghost.from)}`}
    />
  )
}

function IdleWords({ laneBars: { lane } }: { readonly laneBars: LaneBars }) {
  // A result of a workflow's own code is done, and was never called.
  const words = lane.op.state === 'succeeded' ? 'done within a plan' : 'not called'
  return (
    <span className="bar-words quiet">
      {lane.waits === undefined ? words : `will wait for its ${lane.waits}`}
    </span>
  )
}

interface BarShapeProps {
  readonly bar: Bar
  readonly pieces: readonly Piece[]
  /** They stand in the bar if it is wide enough. Those of a lane's only bar stand beside it. */
  readonly words: string
}

/** A call in flight has no duration yet, and a person's word never has one. */
function isCall(tone: Bar['tone']): boolean {
  return tone !== 'calling' && tone !== 'hand'
}

/** Where words to the left of the last bar may end: before it if the bar before leaves room, and else before all bars. */
function findRoomEnd(bars: readonly Bar[], pieces: readonly Piece[]): number {
  const [before, last] = [bars.at(-2), bars.at(-1)]
  const start = toShare(pieces, last?.from ?? 0)
  const hasRoom = before === undefined || start - toShare(pieces, before.to) > LABEL_BAR_MIN
  return hasRoom ? start : toShare(pieces, bars[0]?.from ?? 0)
}

/** The last bar says how long its call took, too. */
function writeWords(bar: Bar, { lane, bars }: LaneBars): string {
  const isLast = bar === bars.at(-1)
  const { durationMs } = lane.op
  const took = !isLast || durationMs === undefined || !isCall(bar.tone) ? '' : formatDuration(durationMs)
  const label = bar.tone === 'open' && lane.waits !== undefined ? `waits for ${lane.waits}` : bar.label
  return [label, took].filter((each) => each !== '').join(' · ')
}

function BarShape({ bar, pieces, words }: BarShapeProps) {
  const left = toPercent(toShare(pieces, bar.from))
  const width = measureBar(bar, pieces)
  return (
    <>
      <span
        className="bar"
        data-tone={bar.tone}
        style={{ left, width: toPercent(width) }}
        title={`${bar.label} ${formatDuration(bar.to - bar.from)}`}
      />
      {width >= LABEL_BAR_MIN && words !== '' ? (
        <span className="bar-inside" style={{ left, width: toPercent(width) }}>
          <span>{words}</span>
        </span>
      ) : null}
    </>
  )
}

function measureBar(bar: Bar, pieces: readonly Piece[]): number {
  return toShare(pieces, bar.to) - toShare(pieces, bar.from)
}

function BarWords({
  bar,
  laneBars,
  pieces,
}: {
  readonly bar: Bar
  readonly laneBars: LaneBars
  readonly pieces: readonly Piece[]
}) {
  const { bars, nextAt } = laneBars
  if (bars.length > 1 && measureBar(bar, pieces) >= LABEL_BAR_MIN) return null
  const from = findRoomEnd(bars, pieces)
  const end = toShare(pieces, Math.max(bar.to, nextAt ?? bar.to))
  const side = end <= LABEL_LEFT_MIN ? 'right' : from < LABEL_INSIDE_MAX ? 'inside' : 'left'
  const style = {
    right: { left: toPercent(end) },
    left: { right: toPercent(1 - from) },
    inside: { right: toPercent(1 - toShare(pieces, bar.to)) },
  }[side]
  return (
    <span className="bar-words" data-side={side} data-tone={bar.tone} style={style}>
      <span className="glyph">{GLYPHS[bar.tone]}</span> {writeWords(bar, laneBars)}
    </span>
  )
}

function NextAttempt({
  from,
  to,
  nextAt,
}: {
  readonly from: number
  readonly to: number
  readonly nextAt: number
}) {
  return (
    <span
      className="next-attempt"
      style={{ left: toPercent(from), width: toPercent(Math.max(0, to - from)) }}
    >
      <span>
        <Countdown at={nextAt} />
      </span>
    </span>
  )
}
