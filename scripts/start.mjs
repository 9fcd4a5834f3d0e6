// `npm start`: installs what is missing, then plays the demo on the pinned Node. Runs on any Node from 20 on.
// `npm start -- --help` shows its own options and those of the server that it starts.
import { spawn } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { ensureInstalled } from './install.mjs'
import { findNode, nodeEnvironment } from './pinned-node.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

const HELP = `npm start -- [options]           plays two transfers between two banks, then goes on serving

  --once                       end after the two transfers
  --port N                     port of the orchestrator; the banks take the next two (8470)
  --data DIR                   folder of everything that is kept (.data)
  --help                       print this

The orchestrator that it starts may also be run alone, by node packages/cli/src/main.ts:

`

function start() {
  const given = process.argv.slice(2)
  ensureInstalled(root)
  const node = findNode(root)
  const follow = pathToFileURL(join(root, 'scripts', 'follow-parent.mjs')).href
  const isHelp = given.includes('--help') || given.includes('-h')
  const program = isHelp
    ? [join(root, 'packages', 'cli', 'src', 'main.ts'), 'serve', '--help']
    : [join(root, 'scripts', 'demo.ts'), ...given]
  if (isHelp) process.stdout.write(HELP)
  const args = ['--import', follow, ...program]
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
