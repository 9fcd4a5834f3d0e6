import type { TransactionView } from '@counterstep/protocol'
import type { BranchLedger, Effect } from './branch-ledger.ts'

type Ended = Pick<TransactionView, 'gid' | 'status'> & {
  readonly branches: readonly { readonly id: string }[]
}

/** Lists the objections of the ledger to a serial saga's end; empty if there are none. */
export function auditEffects(ledger: BranchLedger, { gid, status, branches }: Ended): string[] {
  const byBranch = branches.map(({ id }) => ({ id, effects: ledger.effects(gid, id) }))
  const faults = byBranch.flatMap(({ id, effects }) =>
    findFaults(status, effects).map((fault) => `${id} ${fault}`),
  )
  const actions = byBranch.flatMap(({ effects }) => findPlace(effects, 'action') ?? [])
  const undone = byBranch.flatMap(({ effects }) => findPlace(effects, 'compensate') ?? [])
  if (!isAscending(actions)) faults.push('actions are out of order')
  if (!isAscending(undone.toReversed())) faults.push('compensations are not in reverse order')
  return faults.map((fault) => `${gid} ${status}: ${fault}`)
}

function findFaults(status: TransactionView['status'], effects: readonly Effect[]): string[] {
  const actions = effects.filter(({ op }) => op === 'action').length
  const undone = effects.filter(({ op }) => op === 'compensate').length
  switch (status) {
    case 'succeeded':
      return actions === 1 && undone === 0 ? [] : [`has ${actions} action effects, ${undone} compensations`]
    case 'failed': {
      const isUndoneAfterwards = effects[0]?.op !== 'compensate'
      const isEven = actions === undone && actions <= 1 && isUndoneAfterwards
      return isEven ? [] : [`has ${actions} action effects, ${undone} compensations`]
    }
    default:
      return ['is not final']
  }
}

function findPlace(effects: readonly Effect[], op: Effect['op']): number | undefined {
  return effects.find((effect) => effect.op === op)?.place
}

function isAscending(places: readonly number[]): boolean {
  return places.every((place, index) => index === 0 || place > (places[index - 1] ?? 0))
}
