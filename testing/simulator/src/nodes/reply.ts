import type { Status } from '@counterstep/protocol'

/** `not-accepted`: proven. `conflict`: other content under that gid. `absent`: no such gid. `refused`: not in its state. */
export type NoStatus = 'not-accepted' | 'conflict' | 'absent' | 'refused'
export type Answer = Status | NoStatus
export type Reply = (answer: Answer) => void

export function isStatus(answer: Answer): answer is Status {
  return answer !== 'not-accepted' && answer !== 'conflict' && answer !== 'absent' && answer !== 'refused'
}
