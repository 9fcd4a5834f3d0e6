import type { Status } from '@counterstep/protocol'
import type { CallKey } from '../rules/events.ts'
import { findOp } from '../rules/op-progress.ts'
import { isPaused } from '../rules/pause.ts'
import { isOverdue } from '../rules/saga-effects.ts'
import { toSaga } from '../rules/workflow-steps.ts'
import { hasSteps, isFinal } from '../transaction.ts'
import { type Run, readStoreNow } from './run.ts'

/** The status in which a call may be sent. No action is sent and no plan is asked for once the transaction aborts. */
const STATUS_FOR_OP: Readonly<Record<CallKey['op'], Status>> = {
  action: 'submitted',
  compensate: 'aborting',
  confirm: 'submitted',
  cancel: 'aborting',
  commit: 'submitted',
  rollback: 'aborting',
  msg: 'prepared',
  plan: 'submitted',
}

/**
 * Tells whether a call that has waited for its turn may still be sent. A call may not start after the lease, nor after another
 * decision, nor while the transaction is paused. After the deadline no action of a saga or a workflow may start, nor may a
 * plan call, which may run steps.
 */
export function mayStart(run: Run, call: CallKey, now: number): boolean {
  const { op } = call
  const { ended, leaseUntil, save, transaction } = run
  if (ended || now >= leaseUntil || save?.hold === 'release' || isFinal(transaction)) return false
  const storeNow = readStoreNow(run, now)
  if (isPaused(transaction, storeNow)) return false
  const isForward = op === 'action' || op === 'plan'
  if (isForward && hasSteps(transaction) && isOverdue(toSaga(transaction), storeNow)) return false
  // The step of a workflow that has failed is compensated at once.
  if (transaction.kind === 'workflow' && op === 'compensate' && transaction.status === 'submitted')
    return findOp(transaction, { ...call, op: 'action' })?.state === 'failed'
  return transaction.status === STATUS_FOR_OP[op]
}
