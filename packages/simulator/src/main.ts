/** `npm run simulate -- --seeds N [--seed S] [--mutant NAME] [--trace]` */
import { performance } from 'node:perf_hooks'
import { parseArgs } from 'node:util'
import { addCounters, newCounters, vacuous } from './counters.ts'
import { type SimulationResult, simulate } from './simulate.ts'

const TRACE_TAIL = 80
const PROGRESS_SEEDS = 500

interface Arguments {
  readonly first: number
  readonly seeds: number
  readonly mutant: string | undefined
  readonly trace: boolean
}

function readArguments(): Arguments {
  const { values } = parseArgs({
    options: {
      seeds: { type: 'string' },
      seed: { type: 'string', default: '1' },
      mutant: { type: 'string' },
      trace: { type: 'boolean', default: false },
    },
  })
  const first = Number(values.seed)
  const seeds = Number(values.seeds ?? (values.trace ? '1' : '1000'))
  if (!Number.isSafeInteger(first) || !Number.isSafeInteger(seeds) || seeds < 1)
    throw new RangeError('--seed and --seeds are whole numbers, --seeds at least 1')
  return { first, seeds, mutant: values.mutant, trace: values.trace }
}

/** Each failing seed again, with a trace. */
function show(seed: number, { mutant, trace }: Arguments): void {
  const { violations, trace: lines } = simulate(seed, mutant, { trace: true })
  print(`seed ${seed}: ${violations.length} violations`)
  for (const line of trace ? lines : lines.slice(-TRACE_TAIL)) print(line)
  for (const { invariant, gid, at, text } of violations)
    print(`seed ${seed}: ${invariant} ${gid} at ${at}: ${text}`)
}

function main(): boolean {
  const asked = readArguments()
  const counters = newCounters()
  const startedAt = performance.now()
  let [events, violations, hash, slowest] = [0, 0, 0, 0]
  let failing: number | undefined
  const last = asked.first + asked.seeds - 1
  for (let seed = asked.first; seed <= last && failing === undefined; seed++) {
    const result: SimulationResult = simulate(seed, asked.mutant)
    addCounters(counters, result.counters)
    events += result.events
    violations += result.violations.length
    hash = (Math.imul(hash, 31) + result.traceHash) >>> 0
    slowest = Math.max(slowest, result.healMs)
    if (result.violations.length > 0) failing = seed
    if (process.stderr.isTTY && seed % PROGRESS_SEEDS === 0)
      process.stderr.write(`\r${seed - asked.first + 1} seeds`)
  }
  if (process.stderr.isTTY) process.stderr.write('\r')
  if (failing !== undefined || asked.trace) show(failing ?? asked.first, asked)
  const seeds = (failing ?? last) - asked.first + 1
  const rate = Math.round(seeds / ((performance.now() - startedAt) / 1_000))
  for (const [name, value] of Object.entries(counters)) print(`${name.padEnd(20)} ${value}`)
  for (const name of seeds >= PROGRESS_SEEDS ? vacuous(counters) : []) print(`never happened: ${name}`)
  print(`all final at most ${slowest} ms after the heal`)
  print(
    `${seeds} seeds, ${counters.sagas} sagas, ${events} events, ${violations} violations, ${rate} seeds/s, hash ${hash.toString(16)}`,
  )
  return violations === 0
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

process.exitCode = main() ? 0 : 1
