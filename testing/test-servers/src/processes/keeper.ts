// This process has the servers as children, and a folder for their data. When the channel to its owner closes, however the
// owner died, it kills the servers and deletes the folder, so that even a SIGKILL of the owner leaves nothing behind.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { News, Order } from './keeper-messages.ts'
import { signalTree, type TreeSignal } from './process-tree.ts'

const children = new Map<number, ChildProcess>()
const folder = mkdtempSync(join(tmpdir(), 'counterstep-servers-'))

// Only the channel ends a keeper, since it must outlive an owner that was killed by a signal to the whole group.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined)
process.on('message', (order: Order) => {
  if (order.type === 'start') start(order)
  else void signal(order)
})
process.once('disconnect', () => {
  void end()
})
tell({ type: 'ready', folder })

function start({ id, command, args, log, user }: Extract<Order, { type: 'start' }>): void {
  const output = openSync(log, 'a')
  // The child has a group of its own: an interrupt from the terminal is for the owner, which may still use its servers.
  const child = spawn(command, args, {
    detached: true,
    stdio: ['ignore', output, output],
    // This user may have no right to the owner's working folder.
    ...(user === undefined ? {} : { ...user, cwd: dirname(log) }),
  })
  closeSync(output)
  child.once('error', (error) => tell({ type: 'refused', id, why: error.message }))
  child.once('spawn', () => {
    children.set(id, child)
    tell({ type: 'started', id, pid: child.pid ?? 0 })
  })
  child.once('exit', (code, signalName) => {
    children.delete(id)
    tell({ type: 'ended', id, how: signalName ?? `exit code ${code}` })
  })
}

async function signal({ id, signal: name }: Extract<Order, { type: 'signal' }>): Promise<void> {
  const child = children.get(id)
  let failure: string | undefined
  try {
    if (name === 'SIGSTOP' || name === 'SIGCONT' || name === 'SIGKILL') await signalAll(child, name)
    else child?.kill(name)
  } catch (error: unknown) {
    failure = String(error)
  }
  tell({ type: 'signalled', id, failure })
}

async function signalAll(child: ChildProcess | undefined, name: TreeSignal): Promise<void> {
  if (child?.pid !== undefined) await signalTree(child.pid, name)
}

function tell(news: News): void {
  if (process.connected) process.send?.(news)
}

async function end(): Promise<void> {
  const exits = [...children.values()].map(async (child) => {
    const exit = once(child, 'exit')
    try {
      await signalAll(child, 'SIGKILL')
    } finally {
      killGroup(child)
    }
    await exit
  })
  // Even if a program cannot be killed, the folder is deleted and this process ends.
  await Promise.allSettled(exits)
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  process.exit(0)
}

/** Kills the whole group, because the script that fills a data folder has children of its own. */
function killGroup(child: ChildProcess): void {
  if (child.pid !== undefined && process.platform !== 'win32') process.kill(-child.pid, 'SIGKILL')
  else child.kill('SIGKILL')
}
