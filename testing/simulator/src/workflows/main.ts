/** Runs many worlds of workflows: `--seeds N --seed FIRST --mutant NAME --trace`. */
import { parseArgs } from 'node:util'
import { simulateWorkflows } from './simulate-workflows.ts'

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1000' },
    seed: { type: 'string', default: '1' },
    mutant: { type: 'string' },
    trace: { type: 'boolean', default: false },
  },
})

const first = Number(values.seed)
const last = first + Number(values.seeds) - 1
const counts: Record<string, number> = {}
let failing: number | undefined
let events = 0
const startedAt = performance.now()
for (let seed = first; seed <= last && failing === undefined; seed++) {
  const result = simulateWorkflows(seed, values.mutant, values.trace)
  events += result.events
  for (const [name, count] of Object.entries(result.counts)) counts[name] = (counts[name] ?? 0) + count
  for (const line of result.trace) print(line)
  if (result.violations.length === 0) continue
  failing = seed
  for (const { invariant, gid, text } of result.violations) print(`seed ${seed}: ${invariant} ${gid} ${text}`)
}
const seconds = Math.round((performance.now() - startedAt) / 1_000)
print(`seeds ${first} to ${failing ?? last}, ${JSON.stringify(counts)}, ${events} events, ${seconds} s`)
process.exitCode = failing === undefined ? 0 : 1

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
