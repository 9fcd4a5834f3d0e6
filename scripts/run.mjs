// node scripts/run.mjs PROGRAM.ts [options]: for the npm scripts, which so run on any Node from 20 on, installed or not.
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { fail, runOnFittingNode } from './run-on-fitting-node.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const [program, ...given] = process.argv.slice(2)

try {
  if (program === undefined) throw new Error('node scripts/run.mjs PROGRAM.ts [options]')
  runOnFittingNode(root, [join(root, program), ...given])
} catch (error) {
  fail(error.message)
}
