import { formatDuration } from '@counterstep/explain'
import type { LatencyView, ServiceOpView, ServiceView } from '@counterstep/protocol'
import { Link } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { formatShare, sumOutcomes } from './outcome-shares.ts'

/** A service, and below it its ops when it is opened. */
export function ServiceRow({ item, isNamed }: { readonly item: ServiceView; readonly isNamed: boolean }) {
  const [isOpen, open] = useState(false)
  const row = useRef<HTMLTableSectionElement>(null)
  useEffect(() => {
    if (!isNamed) return
    open(true)
    row.current?.scrollIntoView({ block: 'nearest' })
  }, [isNamed])
  const { service, callsPerSecond, outcomes, latency, connections, queued, looksDown } = item
  return (
    <tbody ref={row} data-down={looksDown} data-named={isNamed}>
      <tr>
        <td>
          <button
            type="button"
            className="plain disclose"
            aria-expanded={isOpen}
            onClick={() => open(!isOpen)}
          >
            <span aria-hidden="true">{isOpen ? '▾' : '▸'}</span> {service}
          </button>
        </td>
        <td className="number">{callsPerSecond.toFixed(1)}</td>
        <OutcomeCells outcomes={outcomes} />
        <LatencyCells latency={latency} />
        <td className="number">{connections}</td>
        <td className="number">{queued}</td>
        <td>
          <WaitingFor item={item} />
        </td>
      </tr>
      {isOpen ? item.ops.map((op) => <OpRow key={op.op} op={op} />) : null}
    </tbody>
  )
}

function OpRow({ op: { op, minutes, latency } }: { readonly op: ServiceOpView }) {
  return (
    <tr className="op-row">
      <td>{op}</td>
      <td className="number quiet">1 h</td>
      <OutcomeCells outcomes={sumOutcomes(minutes)} />
      <LatencyCells latency={latency} />
      <td colSpan={3} />
    </tr>
  )
}

function OutcomeCells({ outcomes }: { readonly outcomes: ServiceView['outcomes'] }) {
  const { success, failure, ongoing, unknown } = outcomes
  const total = success + failure + ongoing + unknown
  return (
    <>
      <td className="number">{formatShare(success, total)}</td>
      <td className="number">{formatShare(failure, total)}</td>
      <td className="number">{formatShare(ongoing, total)}</td>
      <td className="number" data-tone={unknown > 0 ? 'bad' : undefined}>
        {formatShare(unknown, total)}
      </td>
    </>
  )
}

function LatencyCells({ latency }: { readonly latency: LatencyView }) {
  return [latency.p50Ms, latency.p95Ms, latency.p99Ms].map((ms, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the three percentiles have fixed places.
    <td className="number" key={index}>
      {latency.count === 0 ? '–' : formatDuration(ms)}
    </td>
  ))
}

function WaitingFor({ item: { service, waiting, attention } }: { readonly item: ServiceView }) {
  if (waiting === 0) return <span className="quiet">–</span>
  return (
    <>
      <Link
        to="/problems"
        search={{ tab: attention > 0 ? 'attention' : 'retrying' }}
        title={`Problems of ${service}`}
      >
        {waiting.toLocaleString()}
      </Link>
      {attention === 0 ? null : (
        <span className="mark" data-mark="attention">
          {' '}
          ⚠ {attention.toLocaleString()} need a person
        </span>
      )}
    </>
  )
}
