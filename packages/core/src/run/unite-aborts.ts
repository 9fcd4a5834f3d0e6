import type { AbortDecision } from '../transaction.ts'

/** Takes the stored decision with the branches of both lists, because the list may only grow. */
export function uniteBranches(ours: AbortDecision, stored: AbortDecision): AbortDecision {
  const branches = [...new Set([...ours.branches, ...stored.branches])].sort((a, b) => a - b)
  return { ...stored, branches }
}
