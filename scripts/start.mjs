// `npm start`: installs what is missing, then plays the demo on a Node that fits. Runs on any Node from 20 on.
// `npm start -- --help` shows its own options and those of the server that it starts.
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { fail, runOnFittingNode } from './run-on-fitting-node.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

const HELP = `npm start -- [options]           plays three transfers between two banks, then goes on serving

  --once                       end after the transfers
  --port N                     port of the orchestrator; the banks take the next two (8470)
  --data DIR                   folder of everything that is kept (.data)
  --help                       print this

The orchestrator that it starts may also be run alone, by npx counterstep serve:

`

function start() {
  const given = process.argv.slice(2)
  const isHelp = given.includes('--help') || given.includes('-h')
  if (isHelp) process.stdout.write(HELP)
  runOnFittingNode(
    root,
    isHelp
      ? [join(root, 'packages', 'cli', 'src', 'main.ts'), 'serve', '--help']
      : [join(root, 'scripts', 'demo.ts'), ...given],
  )
}

try {
  start()
} catch (error) {
  fail(error.message)
}
