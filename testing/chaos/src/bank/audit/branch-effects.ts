import type { BankBooks, Effect } from '../evidence.ts'

/** The effects of one branch of one transaction. */
export interface BranchEffects {
  readonly gid: string
  readonly branchId: string
  readonly bank: number
  readonly actions: Effect[]
  readonly compensations: Effect[]
  /** A null compensation came before the action. */
  isBlocked: boolean
}

/** The ledgers of all banks, by gid and then by branch. A branch that two banks served has two entries. */
export class EffectIndex {
  readonly #byGid = new Map<string, Map<string, BranchEffects>>()

  constructor(banks: readonly BankBooks[]) {
    for (const [bank, { effects, blocked }] of banks.entries()) {
      for (const effect of effects) this.#add(bank, effect)
      for (const { gid, branchId } of blocked) this.#branch(bank, gid, branchId).isBlocked = true
    }
  }

  gids(): Iterable<string> {
    return this.#byGid.keys()
  }

  of(gid: string): readonly BranchEffects[] {
    return [...(this.#byGid.get(gid)?.values() ?? [])]
  }

  find(gid: string, bank: number, branchId: string): BranchEffects | undefined {
    return this.#byGid.get(gid)?.get(toKey(bank, branchId))
  }

  *all(): Iterable<BranchEffects> {
    for (const branches of this.#byGid.values()) yield* branches.values()
  }

  #add(bank: number, effect: Effect): void {
    const branch = this.#branch(bank, effect.gid, effect.branchId)
    const isUndo = effect.op === 'compensate' || effect.op === 'cancel'
    ;(isUndo ? branch.compensations : branch.actions).push(effect)
  }

  #branch(bank: number, gid: string, branchId: string): BranchEffects {
    const branches = this.#byGid.get(gid) ?? new Map<string, BranchEffects>()
    this.#byGid.set(gid, branches)
    const key = toKey(bank, branchId)
    const found = branches.get(key)
    if (found !== undefined) return found
    const made = { gid, branchId, bank, actions: [], compensations: [], isBlocked: false }
    branches.set(key, made)
    return made
  }
}

function toKey(bank: number, branchId: string): string {
  return `${bank}/${branchId}`
}
