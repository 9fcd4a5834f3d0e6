import type { Op } from '@counterstep/protocol'
import { type BarrierRow, barrierRows, decideBarrier } from '@counterstep/protocol/barrier'

/** One effect of a branch's op, with its place in the order of all effects. */
export interface Effect {
  readonly op: Op
  readonly place: number
}

interface LedgerBranch {
  readonly rows: readonly BarrierRow[]
  readonly effects: readonly Effect[]
}

export type LedgerAnswer = 'done' | 'duplicate' | 'null-compensation' | 'already-compensated'

/** The work of the services behind the branches: an effect and its barrier rows, written together or not at all. */
export class BranchLedger {
  readonly #branches = new Map<string, LedgerBranch>()
  #places = 0

  effects(gid: string, branchId: string): readonly Effect[] {
    return this.#branches.get(toKey(gid, branchId))?.effects ?? []
  }

  commit(gid: string, branchId: string, op: Op): LedgerAnswer {
    const key = toKey(gid, branchId)
    const before = this.#branches.get(key) ?? { rows: [], effects: [] }
    const inserted = barrierRows(op).filter((row) => !before.rows.some((standing) => standing.op === row.op))
    const rows = [...before.rows, ...inserted]
    const ownInserted = inserted.some((row) => row.op === op)
    const decision = ownInserted
      ? decideBarrier(op, { ownInserted, originInserted: inserted.length === 2 })
      : decideBarrier(op, { ownInserted, standing: rows })
    if (decision === 'run') {
      this.#branches.set(key, { rows, effects: [...before.effects, { op, place: ++this.#places }] })
      return 'done'
    }
    if (decision === 'null-compensation') this.#branches.set(key, { rows, effects: before.effects })
    return decision
  }
}

function toKey(gid: string, branchId: string): string {
  return `${gid} ${branchId}`
}
