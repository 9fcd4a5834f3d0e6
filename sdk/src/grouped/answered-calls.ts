import type { Op } from '@counterstep/protocol'
import { EMPTY_ANSWER } from '../barrier/stored-answer.ts'
import type { AdmittedCall, GroupVerdict } from './group-barrier.ts'
import { toSettledVerdict } from './settled-verdict.ts'

/**
 * Remembers, for each branch of a group, the last call whose effect has run in this transaction or before it. If the
 * next call of the branch only repeats that call, it gets the same answer. Both must have been accepted at the same
 * instant, since another transaction may have the same gid. Only a call of another op could change the answer of a
 * repetition. If there is one in this group, it is the last call and so nothing is repeated. If another transaction
 * commits one meanwhile, it counts as coming after the repetition.
 */
export class AnsweredCalls {
  readonly #last = new Map<string, { readonly op: Op; readonly since: number; readonly answer: string }>()

  record({ branch, op, since }: AdmittedCall, verdict: GroupVerdict | undefined): void {
    const outcome = verdict !== undefined && 'outcome' in verdict ? verdict.outcome : undefined
    if (outcome?.decision === 'run' || outcome?.decision === 'duplicate')
      this.#last.set(branch, { op, since, answer: outcome.answer ?? EMPTY_ANSWER })
    else this.#last.delete(branch)
  }

  /**
   * Returns the verdict of a call that only repeats the one before it on its branch, and undefined for any other
   * call.
   */
  findRepeated({ branch, op, since }: AdmittedCall): GroupVerdict | undefined {
    const last = this.#last.get(branch)
    if (last?.op !== op || last.since !== since) return undefined
    return toSettledVerdict(op, 'duplicate', [{ op, reason: op, answer: last.answer }])
  }
}
