import type { Definition } from '@counterstep/core'
import { type TransactionView, withoutGrpcScheme } from '@counterstep/protocol'

/** Tells in DTM's words why a transaction was rolled back. Returns undefined if it was not, or if no reason was given. */
export function findRollbackReason(view: TransactionView, definition: Definition): string | undefined {
  switch (view.abort?.cause) {
    case undefined:
    case 'check-failed':
    case 'signal-timeout':
      return undefined
    case 'requested':
    case 'value-unusable':
    case 'workflow-failed':
      return view.abort.reason
    case 'deadline':
      return `Timeout after ${readDeadlineS(definition)} seconds`
    case 'retry-limit': {
      const retries = (definition.retry.limit ?? 1) - 1
      return `RetryCount is greater than RetryLimit, RetryLimit: ${retries}`
    }
    case 'branch-failed':
      return describeBranchFailure(view, view.abort.branchId)
  }
}

function readDeadlineS(definition: Definition): number {
  return 'deadlineMs' in definition ? (definition.deadlineMs ?? 0) / 1_000 : 0
}

function describeBranchFailure({ branches }: TransactionView, branchId: string | undefined): string {
  const op = branches.find(({ id }) => id === branchId)?.ops.find(({ result }) => result === 'failure')
  const answer = op?.answer ?? ''
  return `url:${withoutGrpcScheme(op?.url ?? '')} return failed: ${answer.endsWith(' FAILURE') ? answer : `${answer} FAILURE`}`
}
