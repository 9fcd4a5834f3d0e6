import { OPS, type Op } from '@counterstep/protocol'
import { adviseOn } from './advise-on.ts'
import { describeOutcome } from './describe-outcome.ts'
import { nameHandler, nameOp } from './name-op.ts'

/** A problem is `SERVICE OP OUTCOME`, or `– WORD` where it belongs to no call. */
export interface ProblemParts {
  readonly service?: string
  readonly op?: Op
  readonly outcome: string
}

export function readProblem(problem: string): ProblemParts {
  const words = problem.split(' ')
  const outcome = words.at(-1) ?? problem
  const op = OPS.find((each) => each === words.at(-2))
  const service = words.slice(0, -2).join(' ')
  return op === undefined || service === ''
    ? { outcome: problem.replace(/^– /, '') }
    : { service, op, outcome }
}

const WITHOUT_CALL: Readonly<Record<string, string>> = {
  'no-progress': 'It was taken up several times without getting anywhere.',
  'value-unusable': 'A request could not be built, because an earlier answer lacks the value that it uses.',
  'journal-full': 'It is not planned further, because its record has no room for an answer.',
  'by-hand': 'It waits for a person, who must undo an action that was done by hand.',
  'record-unreadable': 'Its record cannot be read.',
  other: 'Further problems, counted together.',
}

/** Explains a problem that many transactions may share. */
export function describeProblem(problem: string): { readonly headline: string; readonly advice: string } {
  const { service, op, outcome } = readProblem(problem)
  if (service === undefined || op === undefined) {
    return { headline: WITHOUT_CALL[outcome] ?? problem, advice: adviseOn(outcome) }
  }
  const subject = op === 'plan' ? nameHandler(service) : service
  return {
    headline: `${subject} ${describeOutcome(outcome, op)} (${nameOp(op, undefined)}).`,
    advice: adviseOn(outcome, op),
  }
}
