// biome-ignore-all lint/performance/noBarrelFile: package.json names this file as an entry, which lists what it exports.
export type { Added, Addition, AdditionLog, ConditionalAddOptions } from './addition/addition.ts'
export type { GroupApply, GroupBarrier, GroupCall } from './group-barrier.ts'
export type { GroupedBranchOptions } from './grouped-branch.ts'
export { groupedBranch } from './grouped-branch.ts'
export type { TakenOut } from './take-out.ts'
export { takeOut } from './take-out.ts'
