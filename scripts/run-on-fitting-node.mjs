import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { findNode, nodeEnvironment } from './fitting-node.mjs'
import { ensureInstalled } from './install.mjs'

/** The title that npm, or the Node that runs it, has in the list of processes. */
const NPM_TITLE = /^(?:npm|npx|node|MainThread)/

/** Installs what is missing, runs a program of the project on a Node that fits, and ends with its exit code. */
export function runOnFittingNode(root, program) {
  ensureInstalled(root)
  const node = findNode(root)
  const follow = pathToFileURL(join(root, 'scripts', 'follow-parent.mjs')).href
  const child = spawn(node, ['--import', follow, ...program], {
    cwd: process.cwd(),
    env: nodeEnvironment(node),
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  if (process.env.npm_lifecycle_event !== undefined) onNpmGone(() => child.kill('SIGTERM'))
  child.on('error', (error) => fail(error.message))
  child.on('exit', (code) => {
    process.exit(code ?? 1)
  })
}

/**
 * Calls back when npm has ended. A SIGTERM to npm ends the shell between npm and this process, and that shell passes nothing
 * on. A SIGKILL ends npm alone, and then the shell, which goes on waiting for this process, has another parent.
 */
function onNpmGone(callback) {
  const starters = readStarters()
  const timer = setInterval(() => {
    if (readStarters() === starters) return
    clearInterval(timer)
    callback()
  }, 500)
}

/** Reads the id of the parent, and of its parent if the first is the shell between npm and this process. */
function readStarters() {
  const parent = String(process.ppid)
  try {
    const [, title = '', grandparent = ''] =
      /\((.*)\) \S (\d+)/s.exec(readFileSync(`/proc/${parent}/stat`, 'utf8')) ?? []
    return NPM_TITLE.test(title) ? parent : `${parent} ${grandparent}`
  } catch {
    // Only Linux has this file. If the parent has just ended, the next look finds another one.
    return parent
  }
}

export function fail(message) {
  process.stderr.write(`${message}\n`)
  process.exit(1)
}
