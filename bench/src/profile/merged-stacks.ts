import type { CallFrame, CpuProfile, ProfileNode } from './cpu-profile.ts'

/** A function with all that it called on one path; the same path is one frame, however often it was taken. */
export interface StackFrame {
  readonly callFrame: CallFrame
  /** With all that it called, microseconds. */
  readonly totalUs: number
  readonly callees: readonly StackFrame[]
}

const IDLE = new Set(['(idle)', '(program)'])

/** What a thread did while it was busy, from the outermost function in. Undefined where it never was. */
export function mergedStacks(
  { nodes, samples, timeDeltas }: CpuProfile,
  fromSeconds: number,
): StackFrame | undefined {
  const selfUs = new Map<number, number>()
  let atUs = 0
  for (const [index, id] of samples.entries()) {
    const timeUs = timeDeltas[index + 1] ?? 0
    atUs += timeUs
    if (atUs >= fromSeconds * 1e6) selfUs.set(id, (selfUs.get(id) ?? 0) + timeUs)
  }
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const [first] = nodes
  if (first === undefined) return undefined
  const childrenOf = ({ children = [] }: ProfileNode) =>
    children.flatMap((id) => byId.get(id) ?? []).filter(({ callFrame }) => !IDLE.has(callFrame.functionName))
  const merge = (same: readonly ProfileNode[], callFrame: CallFrame): StackFrame => {
    const callees = Array.from(groupsOf(same.flatMap(childrenOf)), (group) =>
      merge(group, group[0]?.callFrame ?? callFrame),
    )
    const ownUs = same.reduce((sum, { id }) => sum + (selfUs.get(id) ?? 0), 0)
    const calleesUs = callees.reduce((sum, { totalUs }) => sum + totalUs, 0)
    return {
      callFrame,
      totalUs: ownUs + calleesUs,
      callees: callees.toSorted((one, other) => other.totalUs - one.totalUs),
    }
  }
  const root = merge([first], first.callFrame)
  return root.totalUs > 0 ? root : undefined
}

function groupsOf(nodes: readonly ProfileNode[]): Iterable<readonly ProfileNode[]> {
  const groups = new Map<string, ProfileNode[]>()
  for (const node of nodes) {
    const { functionName, url, lineNumber } = node.callFrame
    const key = JSON.stringify([functionName, url, lineNumber])
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [node])
    else group.push(node)
  }
  return groups.values()
}
