import { type Definition, hasTwoPhases } from '@counterstep/core'
import type { Bulkhead } from './bulkhead.ts'
import type { Target } from './target.ts'

/**
 * Lists every target that a transaction may call, for compensations too, because
 * it takes a place at each of them while that target hangs.
 */
export function listDefinitionTargets(bulkhead: Bulkhead, definition: Definition): readonly Target[] {
  const targets: Target[] = []
  // The branches of a TCC and of XA are registered later, and no node runs it before its decision.
  if (hasTwoPhases(definition)) return targets
  // The services that the code of a workflow will call are not known yet.
  if (definition.kind === 'workflow') return [bulkhead.find(definition.handler)]
  if (definition.kind === 'recorded') return [bulkhead.find(definition.callback.url)]
  for (const branch of definition.branches) {
    addTarget(bulkhead, branch.action, targets)
    if ('compensation' in branch) addTarget(bulkhead, branch.compensation, targets)
  }
  return targets
}

/** Adds the target of a URL. A call with an empty URL is not sent and has no target. */
function addTarget(bulkhead: Bulkhead, url: string | undefined, targets: Target[]): void {
  if (url === undefined || url === '') return
  const target = bulkhead.find(url)
  if (!targets.includes(target)) targets.push(target)
}
