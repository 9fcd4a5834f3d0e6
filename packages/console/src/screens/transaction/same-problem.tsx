import type { TransactionView } from '@counterstep/protocol'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { sufferersQuery } from '../../api/queries.ts'
import { isTyping } from '../../parts/is-typing.ts'
import { readPreferences } from '../../parts/preferences.ts'
import { findNext } from './find-next.ts'

/** Leads to the others that wait for the same reason. One that has just been mended still leads to them. */
export function SameProblem({ view }: { readonly view: TransactionView }) {
  const [first] = useState(view.problem)
  const { problem = view.problem ?? first } = useSearch({ from: '/tx/$gid' })
  if (problem === undefined) return null
  return (
    <p>
      <Link to="/list" search={{ problem }}>
        All with this problem
      </Link>{' '}
      · <NextLink problem={problem} gid={view.gid} /> <code className="quiet">{problem}</code>
    </p>
  )
}

/** `n` leads to the next one. The address keeps the problem, so that one goes on from there. */
function NextLink({ problem, gid }: { readonly problem: string; readonly gid: string }) {
  const navigate = useNavigate()
  const { data } = useQuery(sufferersQuery(problem))
  const next = data === undefined ? undefined : findNext(data, gid)
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.key !== 'n' || next === undefined || isTyping(event) || !readPreferences().keys) return
      void navigate({ to: '/tx/$gid', params: { gid: next }, search: { problem } })
    }
    // The window hears a key after the document, whose listener takes the `n` of `g n`.
    window.addEventListener('keydown', press)
    return () => window.removeEventListener('keydown', press)
  }, [navigate, next, problem])
  if (next === undefined) return <span className="quiet">{data === undefined ? '…' : 'no other has it'}</span>
  return (
    <Link to="/tx/$gid" params={{ gid: next }} search={{ problem }} title={`${next} ( n )`}>
      Next with this problem
    </Link>
  )
}
