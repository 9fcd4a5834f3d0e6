import { explainTransaction } from '@counterstep/explain'
import type { TransactionView } from '@counterstep/protocol'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { mayDo } from '../../api/may-do.ts'
import { sessionQuery } from '../../api/session.ts'
import { SignalDialog } from '../../commands/signal-dialog.tsx'
import { formatTimeOfDay } from '../../parts/instants.ts'
import { useNow } from '../../parts/use-now.ts'
import { SameProblem } from './same-problem.tsx'

/** Answers the first question of a person who comes here. */
export function Why({ view }: { readonly view: TransactionView }) {
  const now = useNow()
  const { headline, cause, next, advice } = explainTransaction(view, { now, formatTime: formatTimeOfDay })
  const tone = view.attention === undefined ? view.status : 'attention'
  return (
    <section className="why" data-tone={tone} aria-label="Why">
      <p className="headline">{headline}</p>
      {cause === undefined ? null : <p>{cause}</p>}
      {next === undefined || next === '' ? null : <p>{next}</p>}
      {advice === undefined ? null : <p className="advice">{advice}</p>}
      <OpenSignal view={view} />
      <SameProblem view={view} />
    </section>
  )
}

/** A wait for a signal is ended from here, so that an approval needs no other tool. */
function OpenSignal({ view }: { readonly view: TransactionView }) {
  // The dialog stays to say what came of it, even when the wait is over by then.
  const [sent, send] = useState<string>()
  const { data: session } = useQuery(sessionQuery)
  const name = view.branches.find(({ ops }) => ops.some(({ state }) => state === 'open'))?.wait?.signal
  return (
    <>
      {name === undefined || view.finishedAt !== undefined ? null : (
        <p>
          <button type="button" disabled={!mayDo(session, 'signal')} onClick={() => send(name)}>
            Send the signal {name}…
          </button>
        </p>
      )}
      {sent === undefined ? null : (
        <SignalDialog gid={view.gid} name={sent} onClose={() => send(undefined)} />
      )}
    </>
  )
}
