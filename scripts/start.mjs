// `npm start`: installs what is missing, then plays the demo on the pinned Node. Runs on any Node from 20 on.
import { spawn } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { ensureInstalled } from './install.mjs'
import { findNode, nodeEnvironment } from './pinned-node.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

function start() {
  ensureInstalled(root)
  const node = findNode(root)
  const follow = pathToFileURL(join(root, 'scripts', 'follow-parent.mjs')).href
  const args = ['--import', follow, join(root, 'scripts', 'demo.ts'), ...process.argv.slice(2)]
  const demo = spawn(node, args, {
    cwd: process.cwd(),
    env: nodeEnvironment(node),
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => demo.kill(signal))
  if (process.env.npm_lifecycle_event !== undefined) onParentGone(() => demo.kill('SIGTERM'))
  demo.on('error', (error) => fail(error.message))
  demo.on('exit', (code) => {
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

function fail(message) {
  process.stderr.write(`${message}\n`)
  process.exit(1)
}

try {
  start()
} catch (error) {
  fail(error.message)
}
