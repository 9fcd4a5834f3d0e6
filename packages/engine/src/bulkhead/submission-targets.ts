import type { Definition } from '@counterstep/core'
import type { Bulkhead } from './bulkhead.ts'
import type { Target } from './target.ts'

/** Every target that a transaction may call, its compensations too: it would hold a place of any of them when that hangs. */
export function targetsOfDefinition(bulkhead: Bulkhead, definition: Definition): readonly Target[] {
  const targets: Target[] = []
  const add = (url: string | undefined) => {
    // An empty URL is a call that is not made.
    if (url === undefined || url === '') return
    const target = bulkhead.find(url)
    if (!targets.includes(target)) targets.push(target)
  }
  // The branches of a TCC come later, and it is not held here before its decision.
  if (definition.kind === 'tcc') return targets
  for (const branch of definition.branches) {
    add(branch.action)
    if ('compensation' in branch) add(branch.compensation)
  }
  return targets
}
