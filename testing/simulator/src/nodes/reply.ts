import type { Status } from '@counterstep/protocol'

/**
 * `not-accepted`: it is proven that nothing was stored. `conflict`: the gid has other content. `absent`: there is no such
 * gid. `refused`: the command is not possible in this state.
 */
export type NoStatus = 'not-accepted' | 'conflict' | 'absent' | 'refused'
export type Answer = Status | NoStatus
export type Reply = (answer: Answer) => void

export function isStatus(answer: Answer): answer is Status {
  return answer !== 'not-accepted' && answer !== 'conflict' && answer !== 'absent' && answer !== 'refused'
}
