import { toGhosts } from '@counterstep/explain'
import type { TransactionView } from '@counterstep/protocol'
import { useQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { useMemo } from 'react'
import { healthyQuery } from '../../api/queries.ts'
import { ProblemText } from '../../parts/notice.tsx'
import { Waterfall } from '../../timeline/waterfall.tsx'

/** The waterfall, and behind it, where it is wanted, the last one of the same name that succeeded. */
export function TimelineTab({ view }: { readonly view: TransactionView }) {
  const isCompared = useSearch({ from: '/tx/$gid' }).compare === 'healthy' && view.name !== undefined
  const { data, error, isPending } = useQuery({
    ...healthyQuery(view.name ?? '', view.gid),
    enabled: isCompared,
  })
  const ghosts = useMemo(
    () => (isCompared && data != null ? toGhosts(data, view.createdAt) : undefined),
    [isCompared, data, view.createdAt],
  )
  return (
    <>
      <Waterfall view={view} {...(ghosts === undefined ? {} : { ghosts })} />
      <p className="compare quiet">
        <CompareLink view={view} isCompared={isCompared} />{' '}
        {!isCompared || error !== null ? null : isPending ? (
          'looking for it …'
        ) : data === null ? (
          `No other ${view.name} has succeeded.`
        ) : (
          <>
            Outlined:{' '}
            <Link to="/tx/$gid" params={{ gid: data.gid }} className="gid-text">
              {data.gid}
            </Link>
          </>
        )}
      </p>
      {error === null ? null : <ProblemText error={error} />}
    </>
  )
}

/** Only a name says which transactions are alike. */
function CompareLink({ view, isCompared }: { readonly view: TransactionView; readonly isCompared: boolean }) {
  if (view.name === undefined) return 'It has no name, so no healthy one is known to compare it with.'
  return (
    <Link
      from="/tx/$gid"
      to="/tx/$gid"
      params={{ gid: view.gid }}
      search={({ compare: _, ...others }) => (isCompared ? others : { ...others, compare: 'healthy' })}
      replace
    >
      {isCompared ? 'Compare no more' : `Compare with the last healthy ${view.name}`}
    </Link>
  )
}
