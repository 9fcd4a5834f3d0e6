import type { CallKey } from './call-fate.ts'

/** At most so many copies are kept of an action that is asked again and again. */
const COPIES_MAX = 2

/** Actions that wait for their compensation to be there before them. */
export class WithheldCalls<Call> {
  readonly #byBranch = new Map<string, Call[]>()

  keep(key: CallKey, call: Call): void {
    const branch = toBranchKey(key)
    const kept = this.#byBranch.get(branch) ?? []
    if (kept.length < COPIES_MAX) kept.push(call)
    this.#byBranch.set(branch, kept)
  }

  take(key: CallKey): readonly Call[] {
    const branch = toBranchKey(key)
    const kept = this.#byBranch.get(branch) ?? []
    this.#byBranch.delete(branch)
    return kept
  }

  takeAll(): readonly Call[] {
    const all = [...this.#byBranch.values()].flat()
    this.#byBranch.clear()
    return all
  }
}

function toBranchKey({ gid, branchId }: CallKey): string {
  return `${gid}/${branchId}`
}
