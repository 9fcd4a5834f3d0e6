import { formatDuration } from '@counterstep/explain'
import type { NameView } from '@counterstep/protocol'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useLive } from '../../api/live.ts'
import { namesQuery } from '../../api/queries.ts'
import { Age, TimeOfDay } from '../../parts/instant.tsx'
import { Notice, Trouble } from '../../parts/notice.tsx'
import '../../style/names.css'
import { summarizeName } from './summarize-name.ts'
import { Trend } from './trend.tsx'

/** How the transactions of each name went in the last hour. Each number leads to the list behind it. */
export function Names() {
  useLive(['fresh'])
  const { data, error, refetch } = useQuery(namesQuery)
  if (data === undefined && error !== null) {
    return <Trouble error={error} what="names" onRetry={() => void refetch()} />
  }
  if (data === undefined) return <p className="quiet waiting">Reading …</p>
  return (
    <section className="names">
      <h1>Names</h1>
      {data.items.length === 0 ? (
        <Notice title="No transaction was accepted">
          <p>
            Since <TimeOfDay at={data.since} /> none was. Try one in the <Link to="/new">playground</Link>.
          </p>
        </Notice>
      ) : (
        <NameTable items={data.items} asOf={data.asOf} since={data.since} />
      )}
      <p className="quiet">
        Figures of the last hour on {data.nodes} {data.nodes === 1 ? 'node' : 'nodes'}, read{' '}
        <Age at={data.asOf} />. Memory begins at <TimeOfDay at={data.since} />.
      </p>
    </section>
  )
}

interface TableProps {
  readonly items: readonly NameView[]
  readonly asOf: number
  readonly since: number
}

function NameTable({ items, asOf, since }: TableProps) {
  return (
    <div className="table-frame">
      <table className="rows">
        <thead>
          <tr>
            <th>name</th>
            <th>last hour</th>
            <th className="number">a second</th>
            <th className="number">accepted</th>
            <th className="number">✓ succeeded</th>
            <th className="number">↺ undone</th>
            <th className="number">■ stopped</th>
            <th className="number">p50</th>
            <th className="number">p95</th>
            <th className="number">p99</th>
          </tr>
        </thead>
        <tbody>
          {items.map((item) => (
            <NameRow key={item.name} item={item} asOf={asOf} since={since} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

function NameRow({ item, asOf, since }: { readonly item: NameView } & Omit<TableProps, 'items'>) {
  const { name, minutes, latency } = item
  const { accepted, succeeded, failed, stopped, perSecond } = summarizeName(item, asOf, since)
  return (
    <tr>
      <td className="clip">
        <NameLink name={name}>{name === '-' ? 'without a name' : name}</NameLink>
      </td>
      <td>
        <Trend minutes={minutes} asOf={asOf} />
      </td>
      <td className="number">{formatRate(perSecond)}</td>
      <Count name={name} count={accepted} />
      <Count name={name} count={succeeded} status="succeeded" />
      <Count name={name} count={failed} status="failed" />
      <Count name={name} count={stopped} status="stopped" />
      {[latency.p50Ms, latency.p95Ms, latency.p99Ms].map((ms, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the three percentiles have fixed places.
        <td className="number" key={index}>
          {latency.count === 0 ? '–' : formatDuration(ms)}
        </td>
      ))}
    </tr>
  )
}

function formatRate(perSecond: number): string {
  if (perSecond > 0 && perSecond < 0.01) return '< 0.01'
  return perSecond.toFixed(perSecond < 10 ? 2 : 0)
}

interface CountProps {
  readonly name: string
  readonly count: number
  readonly status?: string
}

function Count({ name, count, status }: CountProps) {
  if (count === 0) return <td className="number quiet">0</td>
  return (
    <td className="number" data-status={status}>
      <NameLink name={name} {...(status === undefined ? {} : { status })}>
        {count.toLocaleString()}
      </NameLink>
    </td>
  )
}

interface NameLinkProps {
  readonly name: string
  readonly status?: string
  readonly children: string
}

/** No filter finds those without a name, nor those that were counted together as `other`. */
function NameLink({ name, status, children }: NameLinkProps) {
  if (name === '-' || name === 'other') return <span title={name}>{children}</span>
  const search = { name, range: '1h', ...(status === undefined ? {} : { status }) }
  return (
    <Link to="/list" search={search} title={`Transactions named ${name}`}>
      {children}
    </Link>
  )
}
