// `npm test`: installs what is missing, then runs all that CI runs, on the pinned Node. Runs on any Node from 20 on.
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { HeldOutput } from './held-output.mjs'
import { ensureInstalled } from './install.mjs'
import { findNode } from './pinned-node.mjs'
import { testStages } from './test-parts.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

async function test() {
  ensureInstalled(root)
  const done = []
  const secondsOf = new Map()
  for (const { name, parts } of testStages(root, findNode(root))) {
    const startedAt = Date.now()
    done.push(...(await runStage(parts)))
    secondsOf.set(name, (secondsOf.get(name) ?? 0) + (Date.now() - startedAt) / 1000)
  }
  return report(done, secondsOf)
}

/** All parts at once; what they print is shown one after the other. */
async function runStage(parts) {
  print(`\n── ${parts[0].name} ──`)
  const begun = parts.map((part, i) => {
    const held = i === 0 ? undefined : new HeldOutput(process.stdout)
    return { name: part.name, held, result: timed(part, held) }
  })
  const results = []
  for (const { name, held, result } of begun) {
    if (held !== undefined) print(`\n── ${name} ──`)
    held?.show()
    results.push({ name, ...(await result) })
    print(`── ${describe(results.at(-1))}`)
  }
  return results
}

/** What goes wrong in the part itself is its failure, and not the end of the others. */
async function timed(part, held) {
  const startedAt = Date.now()
  const counts = await part.run(held).catch((error) => ({
    passed: 0,
    failed: [`${part.name}: ${error.message}`],
    skipped: [],
  }))
  return { ...counts, seconds: (Date.now() - startedAt) / 1000 }
}

/** Every part after all output, then what failed and what was skipped by name, and the sum alone on the last line. */
function report(parts, secondsOf) {
  const failed = parts.flatMap((part) => part.failed)
  const skipped = parts.flatMap((part) => part.skipped)
  print('')
  for (const part of parts) print(describe(part))
  for (const [name, seconds] of secondsOf) print(`all ${name}: ${seconds.toFixed(1)} s`)
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
