// `npm run own-node`: where the system's Node does not fit, installs the project's own and puts it where `npm exec` finds it.
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findNode } from './fitting-node.mjs'
import { fail } from './run-on-fitting-node.mjs'

try {
  process.stdout.write(`The project runs on ${findNode(dirname(dirname(fileURLToPath(import.meta.url))))}\n`)
} catch (error) {
  fail(error.message)
}
