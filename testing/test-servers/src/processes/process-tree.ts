import { setTimeout as sleep } from 'node:timers/promises'
import { type ListProcesses, listProcesses } from './list-processes.ts'

const LOOK_EVERY_MS = 2
const CHANGE_MS_MAX = 10_000

/** The signals that a process takes whether it wants or not: whoever sends one means all that it has started, too. */
export type TreeSignal = 'SIGSTOP' | 'SIGCONT' | 'SIGKILL'

/**
 * Signals a process and its descendants, and returns when it has happened. A PostgreSQL answers from processes of their
 * own, in groups of their own, which neither the end nor the stop of the first one ends or stops.
 */
export async function signalTree(
  pid: number,
  signal: TreeSignal,
  list: ListProcesses = listProcesses,
): Promise<void> {
  if (signal === 'SIGCONT') {
    // The first process last: it may start more of them.
    for (const each of treeOf(pid, list).reverse()) kill(each, 'SIGCONT')
    return
  }
  const tree = await stopTree(pid, list)
  if (signal === 'SIGSTOP') return
  for (const each of tree) kill(each, 'SIGKILL')
  for (const each of tree) await untilState(each, list, isGone)
}

/** Each is stopped before its children are looked for, so that it starts no more of them meanwhile. */
async function stopTree(pid: number, list: ListProcesses): Promise<readonly number[]> {
  kill(pid, 'SIGSTOP')
  await untilState(pid, list, (state) => state?.startsWith('T') === true || isGone(state))
  const descendants: number[] = []
  for (const child of childrenOf(pid, list)) descendants.push(...(await stopTree(child, list)))
  return [pid, ...descendants]
}

function treeOf(pid: number, list: ListProcesses): number[] {
  return [pid, ...childrenOf(pid, list).flatMap((child) => treeOf(child, list))]
}

function childrenOf(pid: number, list: ListProcesses): readonly number[] {
  return list()
    .filter(({ parent }) => parent === pid)
    .map((child) => child.pid)
}

/** A dead process stays in the list until its parent, which may be anybody by then, has asked for its end. */
function isGone(state: string | undefined): boolean {
  return state === undefined || /^[ZX]/.test(state)
}

async function untilState(
  pid: number,
  list: ListProcesses,
  isReached: (state: string | undefined) => boolean,
): Promise<void> {
  const endAt = Date.now() + CHANGE_MS_MAX
  for (;;) {
    const state = list(pid).find((each) => each.pid === pid)?.state
    if (isReached(state)) return
    if (Date.now() > endAt) throw new Error(`process ${pid} is in state ${state} after ${CHANGE_MS_MAX} ms`)
    await sleep(LOOK_EVERY_MS)
  }
}

function kill(pid: number, signal: TreeSignal): void {
  try {
    process.kill(pid, signal)
  } catch (error: unknown) {
    // It has ended meanwhile.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}
