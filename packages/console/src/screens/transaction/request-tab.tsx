import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { mayDo } from '../../api/may-do.ts'
import { requestQuery } from '../../api/queries.ts'
import { sessionQuery } from '../../api/session.ts'
import { JsonView } from '../../parts/json-view.tsx'
import { Notice, Trouble } from '../../parts/notice.tsx'

/** The requests may hold secrets, and each showing is logged. So a person must want it. */
export function RequestTab({ gid }: { readonly gid: string }) {
  const [isWanted, want] = useState(false)
  const { data: session } = useQuery(sessionQuery)
  const { data, error, refetch } = useQuery({ ...requestQuery(gid), enabled: isWanted })
  if (!mayDo(session, 'payloads')) {
    return (
      <Notice title="The request is hidden">
        <p>
          It may hold secrets. Your key lacks the scope <code>payloads</code>.
        </p>
      </Notice>
    )
  }
  if (!isWanted) {
    return (
      <Notice title="The request is hidden">
        <p>It may hold secrets. The server logs who has looked at it.</p>
        <button type="button" onClick={() => want(true)}>
          Show the request
        </button>
      </Notice>
    )
  }
  if (error !== null) return <Trouble error={error} what="the request" onRetry={() => void refetch()} />
  if (data === undefined) return <p className="quiet waiting">Reading …</p>
  return (
    <section>
      <p>
        <Link to="/new" search={{ from: gid }}>
          Open in the playground
        </Link>
      </p>
      <JsonView value={data.submit} />
      <h2>As its branches are called</h2>
      {data.ops.map((op) => (
        <details key={`${op.branchId}.${op.op}`} className="call">
          <summary>
            <code>
              {op.branchId} {op.op}
            </code>{' '}
            <span className="quiet">
              {op.method} {op.url}
              {op.short === true ? ' (in short: no room for its body and its headers)' : ''}
            </span>
          </summary>
          <JsonView value={op} />
        </details>
      ))}
    </section>
  )
}
