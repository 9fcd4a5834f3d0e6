import { formatDuration } from '@counterstep/explain'
import { Link } from '@tanstack/react-router'
import { Countdown } from '../parts/instant.tsx'
import type { Bar, LaneBars } from './bars.ts'
import { type Piece, toShare } from './fold-gaps.ts'
import { toPercent } from './to-percent.ts'

interface LaneProps {
  readonly gid: string
  readonly laneBars: LaneBars
  readonly pieces: readonly Piece[]
}

const GLYPHS = {
  done: '✓',
  refused: '✗',
  unknown: '⚠',
  ongoing: '…',
  calling: '▸',
  open: '⏱',
  hand: '✋',
} as const
/** A bar that begins later than this share has no room for its words at its right. */
const LABEL_LEFT_MIN = 0.72

export function WaterfallLane({ gid, laneBars, pieces }: LaneProps) {
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
        </span>
      </Link>
      <div className="track" aria-hidden="true">
        {bars.map((bar) => (
          <BarShape key={`${bar.from} ${bar.label}`} bar={bar} pieces={pieces} />
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

function IdleWords({ laneBars: { lane } }: { readonly laneBars: LaneBars }) {
  return (
    <span className="bar-words quiet">
      {lane.waits === undefined ? 'not called' : `will wait for its ${lane.waits}`}
    </span>
  )
}

function BarShape({ bar, pieces }: { readonly bar: Bar; readonly pieces: readonly Piece[] }) {
  const left = toShare(pieces, bar.from)
  const width = toShare(pieces, bar.to) - left
  return (
    <span
      className="bar"
      data-tone={bar.tone}
      style={{ left: toPercent(left), width: toPercent(width) }}
      title={`${bar.label} ${formatDuration(bar.to - bar.from)}`}
    />
  )
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
  const { lane, nextAt } = laneBars
  const from = toShare(pieces, bar.from)
  const end = toShare(pieces, Math.max(bar.to, nextAt ?? bar.to))
  const isLeft = end > LABEL_LEFT_MIN
  const style = isLeft ? { right: toPercent(1 - from) } : { left: toPercent(end) }
  const took =
    lane.op.durationMs === undefined || bar.tone === 'calling' ? '' : formatDuration(lane.op.durationMs)
  const label = bar.tone === 'open' && lane.waits !== undefined ? `waits for ${lane.waits}` : bar.label
  return (
    <span className="bar-words" data-side={isLeft ? 'left' : 'right'} data-tone={bar.tone} style={style}>
      <span className="glyph">{GLYPHS[bar.tone]}</span>{' '}
      {[label, took].filter((each) => each !== '').join(' · ')}
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
