import type { BankBooks, BranchCallNote } from '../evidence.ts'

export interface BranchFigures {
  readonly nullCompensations: number
  readonly hangingActionsBlocked: number
  readonly duplicatesFiltered: number
}

/** Counts the calls that the banks' barriers kept from taking effect. */
export function branchFigures(calls: readonly BranchCallNote[], banks: readonly BankBooks[]): BranchFigures {
  const succeeded = new Set<string>()
  let duplicatesFiltered = 0
  let hangingActionsBlocked = 0
  for (const { gid, branchId, op, statusCode, code } of calls) {
    if (code === 'ALREADY_COMPENSATED') hangingActionsBlocked += 1
    if (statusCode !== 200) continue
    const key = `${gid}/${branchId}/${op}`
    if (succeeded.has(key)) duplicatesFiltered += 1
    succeeded.add(key)
  }
  return {
    nullCompensations: banks.reduce((sum, { blocked }) => sum + blocked.length, 0),
    hangingActionsBlocked,
    duplicatesFiltered,
  }
}
