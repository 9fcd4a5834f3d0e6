import type { Barrier, BarrierOutcome } from '../barrier/barrier.ts'
import { isThenable } from '../barrier/thenable.ts'
import { checkResults } from './check-results.ts'
import type { GroupApply, GroupPass } from './group-barrier.ts'
import { isTakenOut } from './take-out.ts'

/** Runs a group of one through the plain barrier, which takes fewer statements and gives the same answers. */
export function runAlone<Tx>(
  barrier: Barrier<Tx>,
  apply: GroupApply<Tx, unknown>,
  { admitted: { call }, entry: readEntry }: GroupPass,
): Promise<BarrierOutcome> {
  return barrier.run(call, (tx, original) =>
    chain(readEntry(original), (entry) => chain(apply(tx, [{ call, entry }]), readAnswer)),
  )
}

/** Continues at once where it can, because behind the SQLite barrier an effect must not return a promise. */
function chain(value: unknown, next: (value: unknown) => unknown): unknown {
  return isThenable(value) ? Promise.resolve(value).then(next) : next(value)
}

function readAnswer(results: unknown): unknown {
  const [result] = checkResults(results, 1)
  if (result instanceof Error) throw result
  if (isTakenOut(result)) throw result.error
  return result
}
