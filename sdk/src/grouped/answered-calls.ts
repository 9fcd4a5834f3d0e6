import type { Op } from '@counterstep/protocol'
import { EMPTY_ANSWER } from '../barrier/stored-answer.ts'
import type { AdmittedCall, GroupVerdict } from './group-barrier.ts'
import { toSettledVerdict } from './settled-verdict.ts'

/**
 * What the calls of one group were told, as far as it answers the next call of their branch: that an effect has run, in
 * this transaction or before it. It answers only calls that were accepted at the same instant, since another transaction
 * may have the same gid. Only a call of another op changes what a repetition is told: in this group it comes
 * between; elsewhere, if it commits meanwhile, the repetition was there before it.
 */
export class AnsweredCalls {
  readonly #last = new Map<string, { readonly op: Op; readonly since: number; readonly answer: string }>()

  tell({ branch, op, since }: AdmittedCall, verdict: GroupVerdict | undefined): void {
    const outcome = verdict !== undefined && 'outcome' in verdict ? verdict.outcome : undefined
    if (outcome?.decision === 'run' || outcome?.decision === 'duplicate')
      this.#last.set(branch, { op, since, answer: outcome.answer ?? EMPTY_ANSWER })
    else this.#last.delete(branch)
  }

  /** The verdict of a call that only repeats the one before it on its branch; undefined for any other. */
  repeated({ branch, op, since }: AdmittedCall): GroupVerdict | undefined {
    const last = this.#last.get(branch)
    if (last?.op !== op || last.since !== since) return undefined
    return toSettledVerdict(op, 'duplicate', [{ op, reason: op, answer: last.answer }])
  }
}
