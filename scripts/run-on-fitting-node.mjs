import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { findNode, nodeEnvironment } from './fitting-node.mjs'
import { ensureInstalled } from './install.mjs'

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
  if (process.env.npm_lifecycle_event !== undefined) onParentGone(() => child.kill('SIGTERM'))
  child.on('error', (error) => fail(error.message))
  child.on('exit', (code) => {
    process.exit(code ?? 1)
  })
}

// A SIGTERM to npm ends the shell between npm and us, and that shell passes nothing on.
function onParentGone(callback) {
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    callback()
  }, 500)
}

export function fail(message) {
  process.stderr.write(`${message}\n`)
  process.exit(1)
}
