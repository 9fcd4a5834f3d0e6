// `npm test`: installs what is missing, then runs all that CI runs, on the pinned Node. Runs on any Node from 20 on.
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ensureInstalled } from './install.mjs'
import { findNode } from './pinned-node.mjs'
import { testParts } from './test-parts.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

async function test() {
  ensureInstalled(root)
  const node = findNode(root)
  const done = []
  const parts = testParts(root, node)
  for (const part of parts) part.begin?.()
  for (const part of parts) {
    print(`\n── ${part.name} ──`)
    const startedAt = Date.now()
    const counts = await part.run()
    const result = { name: part.name, seconds: (Date.now() - startedAt) / 1000, ...counts }
    print(`── ${describe(result)}`)
    done.push(result)
  }
  return report(done)
}

/** Every part after all output, then what failed and what was skipped by name, and the sum alone on the last line. */
function report(parts) {
  const failed = parts.flatMap((part) => part.failed)
  const skipped = parts.flatMap((part) => part.skipped)
  print('')
  for (const part of parts) print(describe(part))
  const seconds = parts.reduce((sum, part) => sum + part.seconds, 0)
  print(`all parts: ${seconds.toFixed(1)} s`)
  for (const name of failed) print(`failed: ${name}`)
  for (const { name, reason } of skipped) print(`skipped: ${name} (${reason ?? 'no reason given'})`)
  const passed = parts.reduce((sum, part) => sum + part.passed, 0)
  print(sum({ passed, failed, skipped }))
  return failed.length === 0
}

function describe(part) {
  return `${part.name}: ${sum(part)} in ${part.seconds.toFixed(1)} s`
}

function sum({ passed, failed, skipped }) {
  const tail = skipped.length === 0 ? '' : `, ${skipped.length} skipped`
  return `${passed} passed, ${failed.length} failed${tail}`
}

function print(line) {
  process.stdout.write(`${line}\n`)
}

try {
  process.exitCode = (await test()) ? 0 : 1
} catch (error) {
  process.stderr.write(`${error.message}\n`)
  print('0 passed, 1 failed')
  process.exitCode = 1
}
