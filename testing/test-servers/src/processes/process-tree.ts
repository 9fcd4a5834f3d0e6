import { setTimeout as sleep } from 'node:timers/promises'
import { type ListProcesses, listProcesses } from './list-processes.ts'

const LOOK_EVERY_MS = 2
const CHANGE_MS_MAX = 10_000

/** The signals that a process cannot refuse. They are meant for all processes that it has started, too. */
export type TreeSignal = 'SIGSTOP' | 'SIGCONT' | 'SIGKILL'

/**
 * Signals a process and its descendants, and returns when that has happened. A PostgreSQL answers from child processes in
 * groups of their own, which go on when the first process ends or is stopped.
 */
export async function signalTree(
  pid: number,
  signal: TreeSignal,
  list: ListProcesses = listProcesses,
): Promise<void> {
  if (signal === 'SIGCONT') {
    // The first process comes last, since it may start more of them.
    for (const each of listTree(pid, list).reverse()) kill(each, 'SIGCONT')
    return
  }
  const tree = await stopTree(pid, list)
  if (signal === 'SIGSTOP') return
  for (const each of tree) kill(each, 'SIGKILL')
  for (const each of tree) await untilState(each, list, isGone)
}

/** Stops each process before it looks for its children, so that the process starts no more of them meanwhile. */
async function stopTree(pid: number, list: ListProcesses): Promise<readonly number[]> {
  kill(pid, 'SIGSTOP')
  await untilState(pid, list, (state) => state?.startsWith('T') === true || isGone(state))
  const descendants: number[] = []
  for (const child of findChildren(pid, list)) descendants.push(...(await stopTree(child, list)))
  return [pid, ...descendants]
}

function listTree(pid: number, list: ListProcesses): number[] {
  return [pid, ...findChildren(pid, list).flatMap((child) => listTree(child, list))]
}

function findChildren(pid: number, list: ListProcesses): readonly number[] {
  return list()
    .filter(({ parent }) => parent === pid)
    .map((child) => child.pid)
}

/** A dead process stays in the list until its parent, which may have changed, has read its exit code. */
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
    // The process has ended meanwhile.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}
