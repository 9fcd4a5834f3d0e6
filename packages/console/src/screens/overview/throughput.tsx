import { FINAL_STATUSES, type OverviewView } from '@counterstep/protocol'
import { Link } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { formatTimeOfDay } from '../../parts/instants.ts'
import { Card } from './card.tsx'
import { dropRunningMinute, fillMinutes } from './fill-minutes.ts'
import { sumMinutes } from './sum-minutes.ts'

const TimeSeries = lazy(() =>
  import('../../parts/time-series.tsx').then(({ TimeSeries: Drawn }) => ({ default: Drawn })),
)

export function Throughput({ view }: { readonly view: OverviewView }) {
  const minutes = fillMinutes(view.minutes, view.since, view.asOf)
  const { accepted, succeeded, failed, stopped } = sumMinutes(minutes)
  const drawn = dropRunningMinute(minutes, view.since, view.asOf)
  const at = drawn.map((minute) => minute.at / 1_000)
  const lines = [
    { name: 'accepted', color: '--accent', values: drawn.map((minute) => minute.accepted) },
    { name: 'undone', color: '--undo', values: drawn.map((minute) => minute.failed) },
  ]
  return (
    <Card title="Throughput, a minute" isWide>
      <p className="quiet">
        <Link to="/list" search={{ range: '1h' }}>
          {accepted.toLocaleString()} accepted
        </Link>
        ,{' '}
        <Link to="/list" search={{ status: FINAL_STATUSES.join(','), range: '1h' }}>
          {(succeeded + failed + stopped).toLocaleString()} ended
        </Link>{' '}
        in the last hour
        {/* Those who do not see the lines have the table. */}
        <span className="line-keys" aria-hidden="true">
          <span data-line="accepted">accepted</span>
          <span data-line="undone">undone</span>
        </span>
      </p>
      <Suspense fallback={<div className="chart" />}>
        <TimeSeries at={at} lines={lines} label="accepted and undone transactions by the minute" />
      </Suspense>
      <table className="unseen">
        <caption>Throughput by the minute</caption>
        <tbody>
          {minutes.map((minute) => (
            <tr key={minute.at}>
              <th>{formatTimeOfDay(minute.at)}</th>
              <td>{minute.accepted} accepted</td>
              <td>{minute.failed} undone</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Card>
  )
}
