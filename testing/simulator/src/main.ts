/**
 * The program behind `npm run simulate -- --seeds N [--seed S] [--mutant
 * NAME] [--trace] [--only "SEED off=… drop=… heal=…"]`.
 */
import { performance } from 'node:perf_hooks'
import { type Arguments, readArguments } from './arguments.ts'
import type { ReducedSeed } from './seeds/reduction.ts'
import { keepRegression, readRegressions } from './seeds/regressions.ts'
import { describeFailure, runSeeds, type SeedsRun } from './seeds/run-seeds.ts'
import { shrink } from './seeds/shrink.ts'
import { vacuous } from './seeds/vacuous.ts'
import { simulate } from './simulate.ts'

const TRACE_TAIL_LINES = 80
const PROGRESS_SEEDS = 500

function* listSeeds({ first, seeds, reduction }: Arguments): Generator<ReducedSeed> {
  for (let seed = first; seed < first + seeds; seed++) yield { seed, reduction }
}

function showTrace({ seed, reduction }: ReducedSeed, { mutant, trace }: Arguments): void {
  const { trace: lines } = simulate(seed, mutant, { trace: true, reduction })
  for (const line of trace ? lines : lines.slice(-TRACE_TAIL_LINES)) print(line)
}

/**
 * Shows the smallest world that fails in the same way, and its trace. A failure
 * of the right core is added to the list of regressions.
 */
function showFailure(failing: NonNullable<SeedsRun['failing']>, asked: Arguments): void {
  print(describeFailure(failing))
  const shrunk = asked.reduction === failing.reduction ? shrink(failing.seed, asked.mutant) : undefined
  if (shrunk === undefined) {
    showTrace(failing, asked)
    return
  }
  const { invariant, reduction, result, runs } = shrunk
  const smallest = { seed: failing.seed, reduction, result }
  showTrace(smallest, asked)
  print(`\nshrunk in ${runs} runs from ${failing.result.events} to ${result.events} events:`)
  print(describeFailure(smallest))
  if (asked.mutant !== undefined) return
  const [violation] = result.violations
  const line = keepRegression({ seed: failing.seed, reduction, note: `${invariant}: ${violation?.text}` })
  print(`kept in seeds.regress.txt: ${line}`)
}

function createProgress(total: number): ((seeds: number) => void) | undefined {
  if (!process.stderr.isTTY) return undefined
  return (seeds) => {
    if (seeds % PROGRESS_SEEDS === 0) process.stderr.write(`\r${seeds} of ${total} seeds`)
    if (seeds === total) process.stderr.write('\r')
  }
}

function runRegressions(asked: Arguments): boolean {
  const regressions = readRegressions()
  const { failing } = runSeeds({ seeds: regressions })
  if (failing === undefined) {
    print(`${regressions.length} seeds that once failed: all right`)
    return true
  }
  print(describeFailure(failing))
  showTrace(failing, asked)
  return false
}

function report({ counters, seeds, events, hash, slowestMs, failing }: SeedsRun, elapsedMs: number): boolean {
  for (const [name, value] of Object.entries(counters)) print(`${name.padEnd(20)} ${value}`)
  const missing = failing === undefined ? vacuous(counters, seeds) : []
  for (const what of missing) print(`proves nothing: ${what}`)
  print(`all final at most ${slowestMs} ms after the heal`)
  const rate = Math.round(seeds / (elapsedMs / 1_000))
  const transactions = counters.sagas + counters.tccs + counters.messages
  print(
    `${seeds} seeds, ${transactions} transactions, ${events} events, ${failing?.result.violations.length ?? 0} violations, ${rate} seeds/s, hash ${hash.toString(16)}`,
  )
  return failing === undefined && missing.length === 0
}

function main(): boolean {
  const asked = readArguments(process.argv.slice(2))
  print(`seeds ${asked.first} to ${asked.first + asked.seeds - 1}; to repeat: --seed ${asked.first}`)
  if (asked.regressions && !runRegressions(asked)) return false
  const startedAt = performance.now()
  const run = runSeeds({
    seeds: listSeeds(asked),
    mutant: asked.mutant,
    progress: createProgress(asked.seeds),
  })
  const elapsedMs = performance.now() - startedAt
  if (run.failing !== undefined) showFailure(run.failing, asked)
  else if (asked.trace) showTrace({ seed: asked.first, reduction: asked.reduction }, asked)
  return report(run, elapsedMs)
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

process.exitCode = main() ? 0 : 1
