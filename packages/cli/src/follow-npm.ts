import { readFileSync } from 'node:fs'

const LOOK_EVERY_MS = 500
/** The title that npm, or the Node that runs it, has in the list of processes. */
const NPM_TITLE = /^(?:npm|npx|node|MainThread)/

/**
 * Calls `stop` once the npm that has started this process is gone: it passes no signal on, and a server that outlives it
 * keeps its port and its data folder.
 */
export function followNpm(stop: () => void): void {
  if (process.platform === 'win32') return
  const starters = readStarters()
  const timer = setInterval(() => {
    if (readStarters() === starters) return
    clearInterval(timer)
    stop()
  }, LOOK_EVERY_MS).unref()
}

/** The parent; and, where that is the shell between npm and this process, the shell's parent. */
function readStarters(): string {
  const parent = String(process.ppid)
  try {
    const [, title = '', grandparent = ''] =
      /\((.*)\) \S (\d+)/s.exec(readFileSync(`/proc/${parent}/stat`, 'utf8')) ?? []
    return NPM_TITLE.test(title) ? parent : `${parent} ${grandparent}`
  } catch {
    // Only Linux has it; and a parent that has just gone is another one at the next look.
    return parent
  }
}
