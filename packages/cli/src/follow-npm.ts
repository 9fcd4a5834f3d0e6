import { readFileSync } from 'node:fs'

const CHECK_EVERY_MS = 500
/** This matches the title of npm, or of the Node that runs it, in the list of processes. */
const NPM_TITLE = /^(?:npm|npx|node|MainThread)/

/**
 * Calls `stop` once the npm that has started this process is gone. npm passes no signal on, and a server that outlives
 * it would keep its port and its data folder.
 */
export function followNpm(stop: () => void): void {
  if (process.platform === 'win32') return
  const starters = readStarters()
  const timer = setInterval(() => {
    if (readStarters() === starters) return
    clearInterval(timer)
    stop()
  }, CHECK_EVERY_MS).unref()
}

/** Returns the parent's id. If the parent is a shell between npm and this process, the id of its parent follows. */
function readStarters(): string {
  const parent = String(process.ppid)
  try {
    const [, title = '', grandparent = ''] =
      /\((.*)\) \S (\d+)/s.exec(readFileSync(`/proc/${parent}/stat`, 'utf8')) ?? []
    return NPM_TITLE.test(title) ? parent : `${parent} ${grandparent}`
  } catch {
    // Only Linux has this file. It is also missing if the parent has just ended, and then the next check finds another.
    return parent
  }
}
