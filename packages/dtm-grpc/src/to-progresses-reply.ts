import { type Answer, answerWith } from '@counterstep/dtm/commands'

interface Progresses {
  readonly transaction: {
    readonly gid: string
    readonly status: string
    readonly rollback_reason?: string
    readonly result?: string
  }
  readonly progresses: readonly {
    readonly branch_id: string
    readonly op: string
    readonly status: string
    readonly bin_data?: string
  }[]
}

/**
 * Makes the reply of PrepareWorkflow of the answer to the same command over HTTP. DTM leaves out the result, so that its clients lose
 * it when they ask a second time.
 */
export function toProgressesReply(answer: Answer): Answer {
  if (answer.status !== 200) return answer
  const { transaction, progresses } = JSON.parse(answer.body) as Progresses
  const { gid, status, rollback_reason, result } = transaction
  return answerWith({
    Transaction: { Gid: gid, Status: status, RollbackReason: rollback_reason ?? '', Result: result ?? '' },
    Progresses: progresses.map(({ branch_id, op, status: ended, bin_data }) => ({
      ...{ Status: ended, BranchID: branch_id, Op: op },
      // The library reads bytes from base64.
      BinData: bin_data ?? '',
    })),
  })
}
