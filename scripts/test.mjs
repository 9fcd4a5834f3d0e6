// `npm test`: installs the packages that are missing, then runs the tests that take a few minutes. Runs on any Node from 20 on.
// `npm run test:all` runs all that CI runs: `--all`, or with `-- --rest` what `npm test` leaves out. `--counts FILE` adds
// this run's results to those of an earlier one in the file: the last lines name what failed in both, and count the sum.
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { findNode } from './fitting-node.mjs'
import { HeldOutput } from './held-output.mjs'
import { ensureInstalled } from './install.mjs'
import { testStages } from './test-parts.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

const LEFT_OUT =
  'not run: databases that were not found, chaos, crash points, golden answers, packed packages, Lambda, clients of DTM, images. ' +
  'npm run test:all runs them, and installs what they need.'

async function test() {
  const { all, rest, counts } = readOptions()
  ensureInstalled(root)
  const done = []
  const secondsByName = new Map()
  for (const { name, parts } of testStages(root, findNode(root), rest ? 'rest' : all ? 'all' : 'quick')) {
    const startedAt = Date.now()
    done.push(...(await runStage(parts)))
    secondsByName.set(name, (secondsByName.get(name) ?? 0) + (Date.now() - startedAt) / 1000)
  }
  return report(done, { secondsByName, countsFile: counts, isAll: all || rest })
}

function readOptions() {
  const options = { all: { type: 'boolean' }, rest: { type: 'boolean' }, counts: { type: 'string' } }
  return parseArgs({ options }).values
}

/** All parts at once; what they print is shown one after the other. */
async function runStage(parts) {
  print(`\n── ${parts[0].name} ──`)
  const begun = parts.map((part, i) => {
    const held = i === 0 ? undefined : new HeldOutput(process.stdout)
    return { name: part.name, held, result: runTimed(part, held) }
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

/** An error in the part itself counts as its failure, and does not end the others. */
async function runTimed(part, held) {
  const startedAt = Date.now()
  const counts = await part.run(held).catch((error) => ({
    passed: 0,
    failed: [`${part.name}: ${error.message}`],
    skipped: [],
  }))
  return { ...counts, seconds: (Date.now() - startedAt) / 1000 }
}

/** Every part after all output, then what failed and what was skipped by name, and the sum alone on the last line. */
function report(parts, { secondsByName, countsFile, isAll }) {
  const results = {
    passed: parts.reduce((sum, part) => sum + part.passed, 0),
    failed: parts.flatMap((part) => part.failed),
    skipped: parts.flatMap((part) => part.skipped),
  }
  print('')
  for (const part of parts) print(describe(part))
  for (const [name, seconds] of secondsByName) print(`all ${name}: ${seconds.toFixed(1)} s`)
  if (!isAll) print(LEFT_OUT)
  printResults(countsFile === undefined ? results : addTo(countsFile, results))
  return results.failed.length === 0
}

function printResults(results) {
  for (const name of results.failed) print(`failed: ${name}`)
  for (const { name, reason } of results.skipped) print(`skipped: ${name} (${reason ?? 'no reason given'})`)
  print(count(results))
}

function describe(part) {
  return `${part.name}: ${count(part)} in ${part.seconds.toFixed(1)} s`
}

function count({ passed, failed, skipped }) {
  return `${passed} passed, ${failed.length} failed${skipped.length === 0 ? '' : `, ${skipped.length} skipped`}`
}

/** Adds these results to those in the file, if it has any. Returns the sum, which the file has then. */
function addTo(file, { passed, failed, skipped }) {
  const text = readFileSync(file, 'utf8')
  const before = text === '' ? { passed: 0, failed: [], skipped: [] } : JSON.parse(text)
  const results = {
    passed: before.passed + passed,
    failed: [...before.failed, ...failed],
    skipped: [...before.skipped, ...skipped],
  }
  writeFileSync(file, JSON.stringify(results))
  return results
}

function print(line) {
  process.stdout.write(`${line}\n`)
}

try {
  process.exitCode = (await test()) ? 0 : 1
} catch (error) {
  process.stderr.write(`${error.message}\n`)
  const { counts } = readOptions()
  const results = { passed: 0, failed: [error.message], skipped: [] }
  printResults(counts === undefined ? results : addTo(counts, results))
  process.exitCode = 1
}
