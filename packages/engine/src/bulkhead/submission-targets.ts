import type { Definition } from '@counterstep/core'
import type { Bulkhead } from './bulkhead.ts'
import type { Target } from './target.ts'

/** Every target that a transaction may call, its compensations too: it would hold a place of any of them when that hangs. */
export function targetsOfDefinition(bulkhead: Bulkhead, definition: Definition): readonly Target[] {
  const targets: Target[] = []
  // The branches of a TCC come later, and it is not held here before its decision.
  if (definition.kind === 'tcc') return targets
  for (const branch of definition.branches) {
    addTarget(bulkhead, branch.action, targets)
    if ('compensation' in branch) addTarget(bulkhead, branch.compensation, targets)
  }
  return targets
}

/** An empty URL is a call that is not made. */
function addTarget(bulkhead: Bulkhead, url: string | undefined, targets: Target[]): void {
  if (url === undefined || url === '') return
  const target = bulkhead.find(url)
  if (!targets.includes(target)) targets.push(target)
}
