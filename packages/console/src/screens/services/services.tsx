import { LOOKS_DOWN } from '@counterstep/explain'
import type { ServiceView } from '@counterstep/protocol'
import { useQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { useLive } from '../../api/live.ts'
import { servicesQuery } from '../../api/queries.ts'
import { Age, TimeOfDay } from '../../parts/instant.tsx'
import { Notice, Trouble } from '../../parts/notice.tsx'
import '../../style/services.css'
import { ServiceRow } from './service-row.tsx'

export function Services() {
  useLive(['fresh'])
  const { data, error, refetch } = useQuery(servicesQuery)
  if (data === undefined && error !== null) {
    return <Trouble error={error} what="services" onRetry={() => void refetch()} />
  }
  if (data === undefined) return <p className="quiet waiting">Reading …</p>
  const down = data.items.filter(({ looksDown }) => looksDown)
  return (
    <section className="services">
      <h1>Services</h1>
      {down.length === 0 ? null : <LooksDown services={down} />}
      {data.items.length === 0 ? (
        <Notice title="No service has been called">
          <p>
            Since <TimeOfDay at={data.since} /> no branch was due. Try one in the{' '}
            <Link to="/new">playground</Link>.
          </p>
        </Notice>
      ) : (
        <ServiceTable items={data.items} />
      )}
      <p className="quiet">
        Figures of the last 5 minutes on {data.nodes} {data.nodes === 1 ? 'node' : 'nodes'}, read{' '}
        <Age at={data.asOf} />. Memory begins at <TimeOfDay at={data.since} />.
      </p>
    </section>
  )
}

function LooksDown({ services }: { readonly services: readonly ServiceView[] }) {
  return (
    <p className="banner" role="status">
      <span className="glyph">⚠</span> {services.map(({ service }) => service).join(', ')}{' '}
      {services.length === 1 ? '' : 'each '}
      {LOOKS_DOWN} of the last minute.
    </p>
  )
}

/** The service that the address names is open. */
function ServiceTable({ items }: { readonly items: readonly ServiceView[] }) {
  const { service: named } = useSearch({ from: '/services' })
  return (
    <div className="table-frame">
      <table className="rows">
        <thead>
          <tr>
            <th>service</th>
            <th className="number">calls/s</th>
            <th className="number">success</th>
            <th className="number">409</th>
            <th className="number">425</th>
            <th className="number">unknown</th>
            <th className="number">p50</th>
            <th className="number">p95</th>
            <th className="number">p99</th>
            <th className="number">conns</th>
            <th className="number">queued</th>
            <th>waiting for it</th>
          </tr>
        </thead>
        {items.map((item) => (
          <ServiceRow key={item.service} item={item} isNamed={item.service === named} />
        ))}
      </table>
    </div>
  )
}
