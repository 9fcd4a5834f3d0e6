import { formatDuration } from '@counterstep/explain'
import type { NameFigure, OverviewView, ServiceFigure } from '@counterstep/protocol'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { formatShare } from '../services/outcome-shares.ts'
import { Card } from './card.tsx'

const ROWS_MAX = 5
const ALL_WORDS = { '/names': 'All names', '/services': 'All services' } as const

interface RowsProps<Item> {
  readonly title: string
  readonly items: readonly Item[]
  readonly none: string
  /** Where all of them are shown. */
  readonly all?: '/names' | '/services'
  readonly readKey: (item: Item) => string
  readonly row: (item: Item) => readonly [ReactNode, ReactNode]
}

function Rows<Item>({ title, items, none, all, readKey, row }: RowsProps<Item>) {
  return (
    <Card title={title}>
      {items.length === 0 ? <p className="quiet">{none}</p> : null}
      <table className="figures">
        <tbody>
          {items.slice(0, ROWS_MAX).map((item) => {
            const [name, figure] = row(item)
            return (
              <tr key={readKey(item)}>
                <td className="clip">{name}</td>
                <td className="number">{figure}</td>
              </tr>
            )
          })}
        </tbody>
      </table>
      {all === undefined || items.length === 0 ? null : (
        <p className="all">
          <Link to={all}>{ALL_WORDS[all]}</Link>
        </p>
      )}
    </Card>
  )
}

/** The figures of names are those of the last hour. */
function NameLink({
  name,
  status,
  children,
}: {
  readonly name: string
  readonly status?: string
  readonly children: ReactNode
}) {
  const search = {
    ...(name === '-' ? {} : { name }),
    ...(status === undefined ? {} : { status }),
    range: '1h',
  }
  return (
    <Link to="/list" search={search} title={name}>
      {children}
    </Link>
  )
}

function showName(name: string): string {
  return name === '-' ? 'without a name' : name
}

export function Slowest({ names }: { readonly names: readonly NameFigure[] }) {
  return (
    <Rows
      title="Slowest names, p95, last hour"
      items={names}
      none="None has ended yet."
      all="/names"
      readKey={({ name }) => name}
      row={({ name, p95Ms }) => [
        <NameLink key={name} name={name}>
          {showName(name)}
        </NameLink>,
        <NameLink key="p95" name={name}>
          {formatDuration(p95Ms)}
        </NameLink>,
      ]}
    />
  )
}

export function MostFailed({ names }: { readonly names: readonly NameFigure[] }) {
  return (
    <Rows
      title="Most undone names, last hour"
      items={names.filter(({ failed }) => failed > 0)}
      none="None was undone."
      all="/names"
      readKey={({ name }) => name}
      row={({ name, failed, ended }) => [
        <NameLink key={name} name={name} status="failed">
          {showName(name)}
        </NameLink>,
        <NameLink key="failed" name={name} status="failed">
          {failed.toLocaleString()}, {formatShare(failed, ended)}
        </NameLink>,
      ]}
    />
  )
}

/** A service whose calls take as long is called slow. */
const SLOW_MS = 1_000

export function WorstServices({ services }: { readonly services: readonly ServiceFigure[] }) {
  return (
    <Rows
      title="Worst services, p95, last hour"
      items={services}
      none="None has been called yet."
      all="/services"
      readKey={({ service }) => service}
      row={({ service, ...figures }) => [
        <Link key={service} to="/services" search={{ service }} title={service}>
          {service}
        </Link>,
        <Link key="figure" to="/services" search={{ service }}>
          {describeService(figures)}
        </Link>,
      ]}
    />
  )
}

function describeService({ calls, unknown, p95Ms }: Omit<ServiceFigure, 'service'>): string {
  const took = `${p95Ms >= SLOW_MS ? 'slow, ' : ''}${formatDuration(p95Ms)}`
  return unknown === 0 ? took : `${formatShare(unknown, calls)} unknown, ${took}`
}

/** A refused submit is no transaction, so these numbers lead nowhere. */
export function Refused({ refusals }: { readonly refusals: OverviewView['refusedSubmits'] }) {
  return (
    <Rows
      title="Refused submits"
      items={refusals}
      none="None was refused."
      readKey={({ code }) => code}
      row={({ code, count }) => [<code key={code}>{code}</code>, count.toLocaleString()]}
    />
  )
}
