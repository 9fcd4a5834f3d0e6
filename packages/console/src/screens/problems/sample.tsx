import { findTroubledOp, quoteText } from '@counterstep/explain'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { transactionQuery } from '../../api/queries.ts'

/** The URL that one of them calls and what its service says. It is read once, not again and again. */
export function Sample({ problem, gid: first }: { readonly problem: string; readonly gid: string }) {
  const [gid] = useState(first)
  const { data } = useQuery(transactionQuery(gid, true))
  // It may have got on meanwhile, and then it says nothing about this problem.
  const op = data?.problem === problem ? findTroubledOp(data)?.op : undefined
  if (op === undefined) return null
  const said = op.answer ?? op.runs?.at(-1)?.excerpt ?? ''
  return (
    <p className="sample">
      {op.url === undefined ? null : <code>{op.url}</code>}{' '}
      {said === '' ? null : <q>{quoteText(said).slice(1, -1)}</q>}
    </p>
  )
}
