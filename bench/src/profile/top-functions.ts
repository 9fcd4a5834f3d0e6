import {
  type CallFrame,
  type CpuProfile,
  isOwn,
  type ProfileNode,
  shortUrl,
  toPackageName,
} from './cpu-profile.ts'

export interface Share {
  readonly name: string
  /** The share of the time in which the thread was not idle. */
  readonly share: number
}

export interface ProfileSummary {
  readonly busyShare: number
  readonly packages: readonly Share[]
  /** Self time. */
  readonly functions: readonly Share[]
  /** Shares that include everything that the function calls; only functions of our own packages. */
  readonly inclusive: readonly Share[]
}

/** A part of a profile, in seconds from the start of the process. */
export interface ProfileWindow {
  readonly fromSeconds: number
  readonly toSeconds: number
}

export function summarise(profile: CpuProfile, { fromSeconds, toSeconds }: ProfileWindow): ProfileSummary {
  const stacks = readStacks(profile.nodes)
  const sums = { packages: new Map(), functions: new Map(), inclusive: new Map() }
  let at = 0
  let busy = 0
  let total = 0
  for (const [index, id] of profile.samples.entries()) {
    const time = profile.timeDeltas[index + 1] ?? 0
    at += time
    const stack = stacks.get(id)
    if (at < fromSeconds * 1e6 || at >= toSeconds * 1e6 || stack === undefined) continue
    total += time
    if (stack.self.functionName === '(idle)') continue
    busy += time
    add(sums.packages, toPackageName(stack.self), time)
    add(sums.functions, toName(stack.self), time)
    for (const name of stack.own) add(sums.inclusive, name, time)
  }
  return {
    busyShare: busy / total,
    packages: toShares(sums.packages, busy),
    functions: toShares(sums.functions, busy),
    inclusive: toShares(sums.inclusive, busy),
  }
}

interface Stack {
  readonly self: CallFrame
  /** Names of our own functions on the stack, each once. */
  readonly own: ReadonlySet<string>
}

function readStacks(nodes: readonly ProfileNode[]): ReadonlyMap<number, Stack> {
  const parents = new Map<number, number>()
  for (const { id, children = [] } of nodes) for (const child of children) parents.set(child, id)
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]))
  return new Map(
    nodes.map(({ id, callFrame }) => {
      const own = new Set<string>()
      for (let at: number | undefined = id; at !== undefined; at = parents.get(at)) {
        const frame = frames.get(at)
        if (frame !== undefined && isOwn(frame)) own.add(toName(frame))
      }
      return [id, { self: callFrame, own }]
    }),
  )
}

function add(times: Map<string, number>, key: string, time: number): void {
  times.set(key, (times.get(key) ?? 0) + time)
}

function toShares(times: ReadonlyMap<string, number>, busy: number): Share[] {
  return [...times]
    .sort(([, one], [, other]) => other - one)
    .map(([name, time]) => ({ name, share: time / busy }))
}

function toName({ functionName, url, lineNumber }: CallFrame): string {
  const name = functionName === '' ? '(anonymous)' : functionName
  return url === '' ? name : `${name.padEnd(32)} ${shortUrl(url)}:${lineNumber + 1}`
}
