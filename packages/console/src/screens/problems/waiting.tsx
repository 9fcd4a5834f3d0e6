import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { newestQuery } from '../../api/queries.ts'
import { BulkButtons } from '../../commands/bulk-buttons.tsx'
import { offerBulk } from '../../commands/bulk-target.ts'
import { type ListFilter, writeListFilter } from '../../filters/list-filter.ts'
import { stringifySearch } from '../../filters/search-text.ts'
import { Next } from '../../parts/instant.tsx'
import { ProblemText } from '../../parts/notice.tsx'
import { useHeldOrder } from '../../parts/use-held-order.ts'
import { Sample } from './sample.tsx'
import type { ProblemTab } from './select-problems.ts'
import '../../style/bulk.css'

const SHOWN_MAX = 5

interface WaitingProps {
  readonly problem: string
  readonly tab: ProblemTab
  readonly count: number
}

/** The first of those that have the problem. All of them are in the list. */
export function Waiting({ problem, tab, count }: WaitingProps) {
  const filter: ListFilter = { problem, flags: [tab], order: 'due' }
  const { data, error } = useQuery(newestQuery(filter))
  const { shown, hold } = useHeldOrder(data?.items.slice(0, SHOWN_MAX) ?? [], ({ gid }) => gid)
  const [first] = shown
  if (error !== null) return <ProblemText error={error} />
  return (
    <>
      {first === undefined ? null : <Sample problem={problem} gid={first.item.gid} />}
      <ul className="waiting-rows" {...hold}>
        {shown.map(({ item: { gid, name, attempts, dueAt, paused }, isGone }) => (
          <li key={gid}>
            <Link to="/tx/$gid" params={{ gid }} search={{ problem }} className="gid-text" title={gid}>
              {gid}
            </Link>
            <span className="quiet clip">{name ?? ''}</span>
            <span>{attempts === undefined ? '' : `attempt ${attempts.toLocaleString()}`}</span>
            <span className="quiet">
              {isGone ? 'has moved on' : paused === true ? 'paused' : <Next at={dueAt} />}
            </span>
          </li>
        ))}
      </ul>
      <div className="group-commands">
        <BulkButtons
          commands={offerBulk(['retry', 'pause', 'abort'], data?.items ?? [], data?.cursor === undefined)}
          choice={{ filter: stringifySearch(toBulkFilter(filter)).slice(1) }}
          what={count.toLocaleString()}
          count={count}
        />
      </div>
      <p>
        <Link to="/list" search={writeListFilter(filter)}>
          Open {count === 1 ? 'it' : `all ${count.toLocaleString()}`} as a list
        </Link>
      </p>
    </>
  )
}

/** A bulk job has an order of its own. */
function toBulkFilter({ order: _, ...filter }: ListFilter) {
  return writeListFilter(filter)
}
