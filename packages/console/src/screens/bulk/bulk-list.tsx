import type { BulkView } from '@counterstep/protocol'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { bulkListQuery } from '../../api/bulk.ts'
import { BULK_WORDS } from '../../commands/bulk-target.ts'
import { Age } from '../../parts/instant.tsx'
import { Notice, Trouble } from '../../parts/notice.tsx'
import '../../style/bulk.css'

/** The bulk jobs, the newest first. */
export function BulkList() {
  const { data, error, refetch } = useQuery(bulkListQuery)
  if (data === undefined && error !== null)
    return <Trouble error={error} what="bulk jobs" onRetry={() => void refetch()} />
  if (data === undefined) return <p className="quiet waiting">Reading …</p>
  return (
    <section className="bulk">
      <h1>Bulk jobs</h1>
      {data.items.length === 0 ? <NoJob /> : <Jobs items={data.items} />}
    </section>
  )
}

function NoJob() {
  return (
    <Notice title="There is no bulk job">
      <p>
        One command for many transactions starts from a <Link to="/problems">problem</Link> or from the{' '}
        <Link to="/list">list</Link>.
      </p>
    </Notice>
  )
}

function Jobs({ items }: { readonly items: readonly BulkView[] }) {
  return (
    <ul className="jobs">
      {items.map(({ id, command, reason, by, createdAt, state }) => (
        <li key={id}>
          <Link to="/bulk/$id" params={{ id }}>
            {BULK_WORDS[command].verb}
          </Link>
          <span className="clip" title={reason}>
            {reason}
          </span>
          <span data-state={state}>{state}</span>
          <span className="quiet">
            {by.person ?? by.key?.name ?? by.via}, <Age at={createdAt} />
          </span>
        </li>
      ))}
    </ul>
  )
}
