import type { EndedMinute } from '@counterstep/protocol'

const MINUTES = 60
const MINUTE_MS = 60_000
const HEIGHT = 20

/** Bars of the last hour, the newest at the right: what was accepted, and in its colour what was undone. */
export function Trend({
  minutes,
  asOf,
}: {
  readonly minutes: readonly EndedMinute[]
  readonly asOf: number
}) {
  const most = Math.max(1, ...minutes.map(({ accepted, failed }) => Math.max(accepted, failed)))
  const peak = Math.max(0, ...minutes.map(({ accepted }) => accepted))
  const toHeight = (count: number) => (count === 0 ? 0 : Math.max(1.5, (count / most) * HEIGHT))
  return (
    <svg className="trend" viewBox={`0 0 ${MINUTES * 2} ${HEIGHT}`} role="img">
      <title>{`At most ${peak.toLocaleString()} in a minute`}</title>
      {minutes.map(({ at, accepted, failed }) => {
        const x = (MINUTES - 1 - Math.floor((asOf - at) / MINUTE_MS)) * 2
        const [whole, undone] = [toHeight(accepted), toHeight(failed)]
        return x < 0 ? null : (
          <g key={at}>
            <rect x={x} y={HEIGHT - whole} width={1.5} height={whole} />
            <rect x={x} y={HEIGHT - undone} width={1.5} height={undone} data-tone="undone" />
          </g>
        )
      })}
    </svg>
  )
}
