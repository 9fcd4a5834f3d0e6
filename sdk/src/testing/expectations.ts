import type { BranchRuleCode } from './branch-rules.ts'
import type { WireAnswer } from './branch-service.ts'
import type { BranchIds } from './branch-under-test.ts'
import { NOTHING } from './state-change.ts'
import type { Role, Trial, Unusual } from './trial.ts'
import { RuleBroken, Undecided } from './verdict.ts'

export const SUCCESS = 200
export const FAILURE = 409
const ONGOING = 425

/** Repeats the call until it has succeeded. `code` is the rule that is broken if it never does. */
export async function mustSucceed(
  trial: Trial,
  role: Role,
  ids: BranchIds,
  code: BranchRuleCode,
): Promise<WireAnswer> {
  const answer = await trial.ask(role, ids)
  const { statusCode, body } = answer
  if (statusCode === SUCCESS) return answer
  if (statusCode === ONGOING) {
    throw new Undecided(`the ${role} is still not done (425) after as many calls as attemptsMax allows`)
  }
  if (statusCode > 200 && statusCode < 300) {
    throw new RuleBroken('SUCCESS_NOT_200', `the ${role} was answered ${statusCode}`)
  }
  throw new RuleBroken(code, `the ${role} was answered ${statusCode} ${body}`)
}

/** Checks that the state has changed as expected. `what` names, in words, the call that should have changed it. */
export async function mustHaveChanged(
  trial: Trial,
  { start, ids, expected }: { start: string; ids: BranchIds; expected: readonly string[] },
  { code, what }: { code: BranchRuleCode; what: string },
): Promise<void> {
  const { text } = await trial.changeSince(start, ids, expected)
  if (expected.includes(text)) return
  throw new RuleBroken(
    code,
    `${what} changed: ${text}. It should have changed: ${[...new Set(expected)].join(', or ')}`,
  )
}

/**
 * Checks a call that came before: it must have no effect, get 200, and get the same answer. The worst fault is looked
 * for first.
 */
export async function mustBeRepeated(
  trial: Trial,
  { role, ids, first, unusual }: { role: Role; ids: BranchIds; first: WireAnswer; unusual?: Unusual },
): Promise<void> {
  const start = await trial.readFirst(ids)
  const { statusCode, body } = await trial.ask(role, ids, unusual)
  await mustHaveChanged(
    trial,
    { start, ids, expected: [NOTHING] },
    { code: 'DUPLICATE_RAN_TWICE', what: `the ${role}, sent again,` },
  )
  if (statusCode !== SUCCESS) {
    throw new RuleBroken(
      'DUPLICATE_REFUSED',
      `the ${role} had succeeded; sent again, it was answered ${statusCode}`,
    )
  }
  if (body !== first.body) {
    throw new RuleBroken('ANSWER_NOT_REPEATED', `first the ${role} was answered ${first.body}, then ${body}`)
  }
}

/**
 * Sends all calls at once. It waits for the last answer, so that no call of one check is still under way in the next
 * check.
 */
export async function atOnce(asks: readonly (() => Promise<WireAnswer>)[]): Promise<WireAnswer[]> {
  const settled = await Promise.allSettled(asks.map((ask) => ask()))
  return settled.map((each) => {
    if (each.status === 'rejected') throw each.reason
    return each.value
  })
}

export function times<Value>(count: number, make: (at: number) => Value): Value[] {
  return Array.from({ length: count }, (_, at) => make(at))
}
