import type { BranchView } from '@counterstep/protocol'

/** Tells whether a step is a slot of which no plan has told: all that is known of it is that it may have run. */
export function isSeal({ is, stepId }: BranchView): boolean {
  return is === 'step' && stepId === undefined
}
