import type { Definition } from '@counterstep/core'
import type { TransactionView } from '@counterstep/protocol'

/** Tells why a transaction was turned around, in DTM's words. Undefined: it was not, or no reason was given. */
export function rollbackReason(view: TransactionView, definition: Definition): string | undefined {
  switch (view.abort?.cause) {
    case undefined:
    case 'check-failed':
      return undefined
    case 'requested':
    case 'value-unusable':
      return view.abort.reason
    case 'deadline':
      return `Timeout after ${deadlineS(definition)} seconds`
    case 'retry-limit': {
      const retries = (definition.retry.limit ?? 1) - 1
      return `RetryCount is greater than RetryLimit, RetryLimit: ${retries}`
    }
    case 'branch-failed':
      return branchFailure(view, view.abort.branchId)
  }
}

function deadlineS(definition: Definition): number {
  return 'deadlineMs' in definition ? (definition.deadlineMs ?? 0) / 1_000 : 0
}

function branchFailure({ branches }: TransactionView, branchId: string | undefined): string {
  const op = branches.find(({ id }) => id === branchId)?.ops.find(({ result }) => result === 'failure')
  const answer = op?.answer ?? ''
  return `url:${op?.url ?? ''} return failed: ${answer.endsWith(' FAILURE') ? answer : `${answer} FAILURE`}`
}
