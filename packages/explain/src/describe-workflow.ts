import type { WorkflowView } from '@counterstep/protocol'

/** Says how far the code of a workflow has come, beside what it may record: `order, version 1, plan 4: 3 of 1000 steps, …`. */
export function describeWorkflow(workflow: WorkflowView): string {
  const { name, version, generation, plan, steps, stepsMax, journalBytes, journalBytesMax } = workflow
  const pinned = version === undefined ? name : `${name}, version ${version}`
  const code = generation === 1 ? pinned : `${pinned}, generation ${generation}`
  const journal = `${formatBytes(journalBytes)} of ${formatBytes(journalBytesMax)} in its journal`
  return `${code}, plan ${plan}: ${steps} of ${stepsMax} steps, ${journal}`
}

function formatBytes(bytes: number): string {
  if (bytes < 1_024) return `${bytes} B`
  if (bytes < 1_024 * 1_024) return `${Math.round(bytes / 1_024)} KiB`
  return `${Math.round((bytes * 10) / (1_024 * 1_024)) / 10} MiB`
}
