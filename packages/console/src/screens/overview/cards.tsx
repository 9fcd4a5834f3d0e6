import { formatDuration } from '@counterstep/explain'
import {
  type EndedMinute,
  FINAL_STATUSES,
  type LatencyView,
  type OverviewView,
  UNFINISHED_STATUSES,
} from '@counterstep/protocol'
import { Link } from '@tanstack/react-router'
import { Age, Countdown } from '../../parts/instant.tsx'
import { StatusMark } from '../../parts/status-mark.tsx'
import { useNow } from '../../parts/use-now.ts'
import { formatShare } from '../services/outcome-shares.ts'
import { Card } from './card.tsx'
import { sumMinutes } from './sum-minutes.ts'

export const UNFINISHED = { status: UNFINISHED_STATUSES.join(','), order: 'due' } as const
/** The figures of what has ended are those of the last hour. */
const ENDED = { status: FINAL_STATUSES.join(','), range: '1h' } as const

export function Outcomes({ minutes }: { readonly minutes: readonly EndedMinute[] }) {
  const { succeeded, failed, stopped } = sumMinutes(minutes)
  const total = succeeded + failed + stopped
  const rows = [
    ['succeeded', succeeded],
    ['failed', failed],
    ['stopped', stopped],
  ] as const
  return (
    <Card title="Outcome, last hour">
      <table className="figures">
        <tbody>
          {rows.map(([status, count]) => (
            <tr key={status}>
              <td>
                <Link to="/list" search={{ status, range: '1h' }}>
                  <StatusMark status={status} />
                </Link>
              </td>
              <td className="number">
                <Link
                  to="/list"
                  search={{ status, range: '1h' }}
                  aria-label={`${count.toLocaleString()} ${status}`}
                >
                  {count.toLocaleString()}
                </Link>
              </td>
              <td className="number quiet">{formatShare(count, total)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Card>
  )
}

export function EndToEnd({ latency }: { readonly latency: LatencyView }) {
  const rows = [
    ['p50', latency.p50Ms],
    ['p95', latency.p95Ms],
    ['p99', latency.p99Ms],
  ] as const
  return (
    <Card title="End to end, last hour">
      <table className="figures">
        <tbody>
          {rows.map(([name, ms]) => (
            <tr key={name}>
              <td>{name}</td>
              <td className="number">
                {latency.count === 0 ? (
                  '–'
                ) : (
                  <Link to="/list" search={ENDED}>
                    {formatDuration(ms)}
                  </Link>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Card>
  )
}

export function Backlog({ view }: { readonly view: OverviewView }) {
  const now = useNow()
  const { unfinished, oldestDueAt, nodes } = view
  const inFlight = nodes.reduce((sum, node) => sum + node.inFlight, 0)
  const inFlightMax = nodes.reduce((sum, node) => sum + node.inFlightMax, 0)
  const total = UNFINISHED_STATUSES.reduce((sum, status) => sum + unfinished[status], 0)
  return (
    <Card title="Backlog">
      <p className="figure">
        <Link to="/list" search={UNFINISHED}>
          {total.toLocaleString()}
        </Link>{' '}
        unfinished
      </p>
      <ul className="lines">
        {UNFINISHED_STATUSES.filter((status) => unfinished[status] > 0).map((status) => (
          <li key={status}>
            <Link to="/list" search={{ status }}>
              <StatusMark status={status} /> {unfinished[status].toLocaleString()}
            </Link>
          </li>
        ))}
        {oldestDueAt === undefined ? null : (
          <li>
            {oldestDueAt > now ? 'next due in ' : 'oldest due '}
            <Link to="/list" search={UNFINISHED}>
              {oldestDueAt > now ? <Countdown at={oldestDueAt} /> : <Age at={oldestDueAt} />}
            </Link>
          </li>
        )}
        <li className="quiet">
          <Link to="/list" search={UNFINISHED}>
            {inFlight.toLocaleString()} of {inFlightMax.toLocaleString()}
          </Link>{' '}
          in flight
        </li>
      </ul>
    </Card>
  )
}
