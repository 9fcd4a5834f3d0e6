import type { ProblemView } from '@counterstep/protocol'
import { type CountedProblem, countProblems, selectProblems } from '../problems/select-problems.ts'

const SHOWN_MAX = 3

export interface Judgement {
  /** `good`: nothing needs a person, and no call has to be made again. `plain`: that is not known yet. */
  readonly tone: 'bad' | 'warn' | 'good' | 'plain'
  readonly retrying: number
  /** The problems that most of them have, the most first. */
  readonly top: readonly CountedProblem[]
  /** How many further problems there are. */
  readonly others: number
}

/** Judges whether all is well. `problems` are undefined as long as they have not been read. */
export function judgeConsistency(attention: number, problems: readonly ProblemView[] | undefined): Judgement {
  const waiting = selectProblems(problems ?? [], 'retrying')
  const top = waiting.slice(0, SHOWN_MAX)
  const retrying = countProblems(problems ?? [], 'retrying')
  const others = waiting.length - top.length
  if (attention > 0) return { tone: 'bad', retrying, top, others }
  if (problems === undefined) return { tone: 'plain', retrying, top, others }
  return { tone: retrying > 0 ? 'warn' : 'good', retrying, top, others }
}
