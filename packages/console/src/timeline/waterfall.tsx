import {
  chooseTicks,
  foldGaps,
  type Ghost,
  listInstants,
  type Piece,
  type Tick,
  toLaneBars,
  toShare,
} from '@counterstep/explain'
import type { TransactionView } from '@counterstep/protocol'
import { useIsNarrow } from '../parts/use-is-narrow.ts'
import { useNow } from '../parts/use-now.ts'
import { toPercent } from './to-percent.ts'
import { WaterfallLane } from './waterfall-lane.tsx'

interface WaterfallProps {
  readonly view: TransactionView
  /** Outlines behind the bars, by the ids of their lanes. */
  readonly ghosts?: ReadonlyMap<string, Ghost>
}

const NO_GHOSTS: ReadonlyMap<string, Ghost> = new Map()

/** Draws when each call ran. Undo lanes are mirrored below their action; long waits are folded. */
export function Waterfall({ view, ghosts = NO_GHOSTS }: WaterfallProps) {
  const ticking = useNow()
  const isNarrow = useIsNarrow()
  const now = view.finishedAt ?? Math.max(ticking, view.updatedAt)
  const lanes = toLaneBars(view, now)
  const outlined = lanes.flatMap(({ lane }) => ghosts.get(lane.id) ?? [])
  const pieces = foldGaps([
    ...listInstants(view, lanes, now),
    ...outlined.flatMap(({ from, to }) => [from, to]),
  ])
  const turnedAt = view.abort?.at
  return (
    <section className="waterfall" aria-label="Timeline">
      <Axis
        ticks={chooseTicks(pieces, {
          isNarrow,
          turnedAt,
          now: view.finishedAt === undefined ? now : undefined,
        })}
        pieces={pieces}
      />
      <ol>
        {lanes.map((each) => (
          <WaterfallLane
            key={each.lane.id}
            gid={view.gid}
            laneBars={each}
            pieces={pieces}
            ghost={ghosts.get(each.lane.id)}
          />
        ))}
      </ol>
      {turnedAt === undefined || pieces.length === 0 ? null : <TurnLine share={toShare(pieces, turnedAt)} />}
      {lanes.length === 0 ? <p className="quiet waiting">It has no branches yet.</p> : null}
    </section>
  )
}

interface AxisProps {
  readonly ticks: readonly Tick[]
  readonly pieces: readonly Piece[]
}

function Axis({ ticks, pieces }: AxisProps) {
  const folds = pieces.filter(({ isFolded }) => isFolded)
  return (
    <div className="axis" aria-hidden="true">
      {folds.map(({ from, left, right }) => (
        <span key={from} className="fold" style={{ left: toPercent(left), width: toPercent(right - left) }} />
      ))}
      {ticks.map(({ share, label, isFold, isTurn }) => (
        <span
          key={`${share} ${label}`}
          className="tick"
          data-fold={isFold}
          data-turn={isTurn === true}
          data-side={share < 0.04 ? 'start' : share > 0.94 ? 'end' : 'middle'}
          style={{ left: toPercent(share) }}
        >
          {label}
        </span>
      ))}
    </div>
  )
}

function TurnLine({ share }: { readonly share: number }) {
  return (
    <div className="turn-frame" aria-hidden="true">
      <span className="turn-line" style={{ left: toPercent(share) }} title="turned around" />
    </div>
  )
}
