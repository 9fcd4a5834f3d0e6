import { describeWaits } from '@counterstep/explain'
import type { PlannedCall, PlanView, TransactionView } from '@counterstep/protocol'
import { ApiError } from '../api/client.ts'
import { TimeOfDay } from '../parts/instant.tsx'
import { ProblemText } from '../parts/notice.tsx'

interface PlanProps {
  readonly plan: PlanView | undefined
  /** The transaction as it is, which knows the last answers. */
  readonly view: TransactionView
  readonly error: Error | null
}

const RAN = { yes: 'has run', maybe: 'may have run', no: 'has not run' } as const

/** Shows what would follow, by the rules of the server. */
export function Plan({ plan, view, error }: PlanProps) {
  if (error instanceof ApiError && error.isMissingRoute) {
    return <p className="plan quiet">This server does not foretell what follows from a command.</p>
  }
  if (error !== null) return <ProblemText error={error} />
  if (plan === undefined) return <p className="plan quiet">Asking the server what will follow …</p>
  if (plan.refusal !== undefined) {
    return (
      <div className="problem-text" role="alert">
        <p>
          The server would refuse it: <code>{plan.refusal.code}</code> {plan.refusal.detail}
        </p>
      </div>
    )
  }
  const waits = describeWaits(plan, view)
  return (
    <section className="plan">
      <h3>
        What will happen{' '}
        <span className="quiet">
          {plan.exact ? 'by its record of ' : 'if every branch counts as sent, by its record of '}
          <TimeOfDay at={plan.asOf} />
        </span>
      </h3>
      <Steps plan={plan} />
      {plan.cannotUndo.length === 0 ? null : (
        <p className="warning">
          Cannot be undone, because it has no compensation: <strong>{plan.cannotUndo.join(', ')}</strong>
        </p>
      )}
      {waits === undefined ? null : <p className="warning">{waits}</p>}
      <p className="quiet">If every call succeeds, it ends as {plan.ends}.</p>
    </section>
  )
}

function Steps({ plan: { steps } }: { readonly plan: PlanView }) {
  if (steps.length === 0) return <p className="quiet">No call follows.</p>
  return (
    <ol>
      {steps.map((calls) => (
        <li key={calls.map(toKey).join(' ')}>
          {calls.map((call) => (
            <div key={toKey(call)} className="planned" data-ran={call.ran}>
              <strong>
                {call.op} {call.branchId}
              </strong>
              <code className="quiet clip" title={call.url}>
                {call.url}
              </code>
              <span>{RAN[call.ran]}</span>
            </div>
          ))}
        </li>
      ))}
    </ol>
  )
}

function toKey({ branchId, op }: PlannedCall): string {
  return `${branchId}.${op}`
}
