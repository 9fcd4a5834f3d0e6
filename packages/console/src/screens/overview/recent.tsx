import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { newestQuery } from '../../api/queries.ts'
import { Age } from '../../parts/instant.tsx'
import { ProblemText } from '../../parts/notice.tsx'
import { Mark, StatusMark } from '../../parts/status-mark.tsx'

const SHOWN_MAX = 8

/** The newest ones, so that a first look shows something to open. */
export function RecentTransactions() {
  const { data, error } = useQuery(newestQuery({}))
  const rows = (data?.items ?? []).slice(0, SHOWN_MAX)
  return (
    <section className="recent">
      <h2>
        Newest <Link to="/list">all transactions</Link>
      </h2>
      {error === null ? null : <ProblemText error={error} />}
      {data?.items.length === 0 ? <p className="quiet">There is none yet.</p> : null}
      <ul>
        {rows.map(({ gid, name, kind, status, attention, problem, createdAt }) => (
          <li key={gid}>
            <Link to="/tx/$gid" params={{ gid }} className="gid-text" title={gid}>
              {gid}
            </Link>
            <span className="quiet clip">{name ?? kind}</span>
            <span>
              <StatusMark status={status} /> {attention ? <Mark name="attention" isShort /> : null}
            </span>
            <span className="quiet clip" title={problem}>
              {problem ?? ''}
            </span>
            <span className="quiet">
              <Age at={createdAt} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}
