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
  readonly row: (item: Item) => readonly [ReactNode, string]
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

function NameLink({ name, status }: { readonly name: string; readonly status?: string }) {
  const search = { ...(name === '-' ? {} : { name }), ...(status === undefined ? {} : { status }) }
  return (
    <Link to="/list" search={search} title={name}>
      {name === '-' ? 'without a name' : name}
    </Link>
  )
}

export function Slowest({ names }: { readonly names: readonly NameFigure[] }) {
  return (
    <Rows
      title="Slowest names, p95"
      items={names}
      none="None has ended yet."
      all="/names"
      readKey={({ name }) => name}
      row={({ name, p95Ms }) => [<NameLink key={name} name={name} />, formatDuration(p95Ms)]}
    />
  )
}

export function MostFailed({ names }: { readonly names: readonly NameFigure[] }) {
  return (
    <Rows
      title="Most undone names"
      items={names.filter(({ failed }) => failed > 0)}
      none="None was undone."
      all="/names"
      readKey={({ name }) => name}
      row={({ name, failed, ended }) => [
        <NameLink key={name} name={name} status="failed" />,
        `${failed.toLocaleString()}, ${formatShare(failed, ended)}`,
      ]}
    />
  )
}

export function WorstServices({ services }: { readonly services: readonly ServiceFigure[] }) {
  return (
    <Rows
      title="Worst services"
      items={services.filter(({ unknown }) => unknown > 0)}
      none="Every call had a definite answer."
      all="/services"
      readKey={({ service }) => service}
      row={({ service, calls, unknown }) => [
        <Link key={service} to="/services" search={{ service }} title={service}>
          {service}
        </Link>,
        `${formatShare(unknown, calls)} unknown`,
      ]}
    />
  )
}

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
