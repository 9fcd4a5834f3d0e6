import { type Deadline, deadlineIn, within } from '../barrier/deadline.ts'
import { isThenable } from '../barrier/thenable.ts'
import type { GroupPass } from './group-barrier.ts'
import { refusedAsync, type Steps, type Waited, waited } from './steps.ts'

/** What the handler of a call returned, or threw. */
export type Entry<Member> =
  | { readonly member: Member; readonly entry: unknown }
  | { readonly member: Member; readonly error: unknown }

/** Of the time that is left to a group: the rest is for `apply` and the COMMIT. */
const HANDLERS_SHARE = 0.5

/**
 * Asks the handlers of all calls at once, since the transaction is open while they work. One that is late fails with
 * BARRIER_TIMED_OUT, and keeps the others waiting for no longer than that. Without a deadline they must be synchronous.
 */
export function* entriesOf<Member extends GroupPass>(
  members: readonly Member[],
  deadline: Deadline | undefined,
): Steps<readonly Entry<Member>[]> {
  const limit = deadline && deadlineIn(Math.round(HANDLERS_SHARE * (deadline.at - performance.now())))
  const started = members.map((member) => startedEntry(member, limit))
  const entries: Entry<Member>[] = []
  for (const entry of started) entries.push(entry instanceof Promise ? yield* waited(entry) : entry)
  return entries
}

/** Never rejects: it may settle before somebody waits for it. */
function startedEntry<Member extends GroupPass>(
  member: Member,
  limit: Deadline | undefined,
): Waited<Entry<Member>> {
  try {
    const made = member.entry()
    if (!isThenable(made)) return { member, entry: made }
    if (limit === undefined) return { member, error: refusedAsync(made) }
    return within(limit, async () => made).then(
      (entry: unknown) => ({ member, entry }),
      (error: unknown) => ({ member, error }),
    )
  } catch (error: unknown) {
    return { member, error }
  }
}
