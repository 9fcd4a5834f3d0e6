import type { AbortDecision } from '../transaction.ts'

interface Aborting {
  readonly abort: AbortDecision
  readonly sentUnknown: boolean
}

/** Takes what both know of an abort that both have. */
export function uniteAborts<A extends Aborting>(ours: A, stored: Aborting): A {
  return {
    ...ours,
    abort: uniteBranches(ours.abort, stored.abort),
    sentUnknown: ours.sentUnknown || stored.sentUnknown,
  }
}

/** Takes the stored decision with the branches of both lists, because the list may only grow. */
function uniteBranches(ours: AbortDecision, stored: AbortDecision): AbortDecision {
  const branches = [...new Set([...ours.branches, ...stored.branches])].sort((a, b) => a - b)
  return { ...stored, branches }
}
