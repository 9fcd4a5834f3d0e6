import { Link } from '@tanstack/react-router'
import { isEmptyFilter, type ListFilter, writeListFilter } from '../../filters/list-filter.ts'
import { Notice } from '../../parts/notice.tsx'

interface EmptyListProps {
  readonly filter: ListFilter
  readonly onChange: (filter: ListFilter) => void
}

/** Says which filter hides what, or how the first transaction comes about. */
export function EmptyList({ filter, onChange }: EmptyListProps) {
  if (isEmptyFilter(filter)) {
    return (
      <Notice title="There is no transaction yet">
        <p>
          A service submits one by <code>POST /v1/transactions</code>, or you try one in the{' '}
          <Link to="/new">playground</Link>.
        </p>
      </Notice>
    )
  }
  return (
    <Notice title="No transaction matches">
      <ul className="active-filters">
        {Object.entries(writeListFilter(filter)).map(([name, value]) => (
          <li key={name}>
            <code>
              {name} = {String(value)}
            </code>
          </li>
        ))}
      </ul>
      <button type="button" onClick={() => onChange({})}>
        Show all
      </button>
      {filter.gid === undefined || filter.gid.endsWith('*') ? null : (
        <p>
          <Link to="/tx/$gid" params={{ gid: filter.gid }}>
            Open “{filter.gid}” as a transaction
          </Link>
        </p>
      )}
    </Notice>
  )
}
