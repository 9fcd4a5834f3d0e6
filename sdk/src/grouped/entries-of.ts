import { type Deadline, deadlineIn } from '../barrier/deadline.ts'
import type { Made } from './asked-handler.ts'
import { type Steps, waited } from './steps.ts'
import type { Member } from './wave.ts'

/** Of the time that is left to a group: the rest is for `apply` and the COMMIT. */
const HANDLERS_SHARE = 0.5

/**
 * Asks the handlers of all calls at once, since the transaction is open while they work. One that is late keeps the
 * others waiting for no longer than its limit.
 */
export function* entriesOf(
  members: readonly Member[],
  deadline: Deadline | undefined,
): Steps<readonly (Made & { readonly member: Member })[]> {
  const limit = deadline && deadlineIn(Math.round(HANDLERS_SHARE * (deadline.at - performance.now())))
  const started = members.map((member) => ({ member, made: member.handler.made(limit) }))
  const entries: (Made & { readonly member: Member })[] = []
  for (const { member, made } of started) {
    entries.push({ member, ...(made instanceof Promise ? yield* waited(made) : made) })
  }
  return entries
}
