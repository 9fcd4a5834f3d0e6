import type { Child } from './harness/child.ts'
import type { Harness } from './harness/harness.ts'
import { faultCount, type LoadJob, type LoadResult } from './load/load-job.ts'
import type { ScenarioContext } from './scenario.ts'
import { type Spread, spreadOf } from './spread.ts'

export interface RowPlan {
  readonly name: string
  readonly job: LoadJob
  /** What works for this row, the asked one first. */
  readonly children: readonly Child[]
}

export interface Row {
  readonly name: string
  readonly perSecond: Spread
  readonly p50Ms: Spread
  readonly p99Ms: Spread
  /** CPU time for one answer, in microseconds; null where the system does not tell. */
  readonly cpuUs: { readonly asked: Spread; readonly everything: Spread } | null
  /** Of all rounds, with warm-up and drain. */
  readonly answers: number
}

export interface Ratio {
  readonly name: string
  readonly spread: Spread
  /** The same by CPU time alone, where it is known. */
  readonly byCpu?: Spread
}

/** Measures the rows in turn (A B A B …), so that what disturbs the machine for a while disturbs all of them. */
export async function runRounds(
  context: ScenarioContext,
  plans: readonly RowPlan[],
): Promise<readonly Row[]> {
  const { settings, harness, progress } = context
  const results = plans.map((): Measured[] => [])
  for (let round = 1; round <= settings.rounds; round += 1) {
    for (const [index, plan] of plans.entries()) {
      progress.show(`round ${round} of ${settings.rounds}: ${plan.name}`)
      const result = await measure(harness, plan)
      if (result.answers === 0 || faultCount(result.faults) > 0) {
        const counts = JSON.stringify({ answers: result.answers, ...result.faults })
        throw new Error(`${plan.name}, round ${round}: not every answer was as expected: ${counts}`)
      }
      results[index]?.push(result)
    }
  }
  return plans.map(({ name }, index) => rowOf(name, results[index] ?? []))
}

interface Measured extends LoadResult {
  /** In the order of the plan's children, the load last. */
  readonly cpuSeconds: readonly (number | undefined)[]
}

async function measure(harness: Harness, { job, children }: RowPlan): Promise<Measured> {
  const all = [...children, harness.loader]
  const before = all.map((child) => child.cpuSeconds())
  const result = await harness.load(job)
  const cpuSeconds = all.map((child, index) => {
    const from = before[index]
    const to = child.cpuSeconds()
    return from === undefined || to === undefined ? undefined : to - from
  })
  return { ...result, cpuSeconds }
}

function rowOf(name: string, results: readonly Measured[]): Row {
  return {
    name,
    perSecond: spreadOf(results.map(({ answersPerSecond }) => answersPerSecond)),
    p50Ms: spreadOf(results.map(({ latencyMs }) => latencyMs.p50)),
    p99Ms: spreadOf(results.map(({ latencyMs }) => latencyMs.p99)),
    cpuUs: cpuOf(results),
    answers: results.reduce((sum, { answers }) => sum + answers, 0),
  }
}

function cpuOf(results: readonly Measured[]): Row['cpuUs'] {
  const asked: number[] = []
  const everything: number[] = []
  for (const { answers, cpuSeconds } of results) {
    const known = cpuSeconds.filter((seconds) => seconds !== undefined)
    const [first] = known
    if (first === undefined || known.length < cpuSeconds.length) return null
    asked.push((first / answers) * 1e6)
    everything.push((known.reduce((sum, seconds) => sum + seconds, 0) / answers) * 1e6)
  }
  return { asked: spreadOf(asked), everything: spreadOf(everything) }
}

/** Round by round, since neighbours in time share the machine's mood. */
export function ratioOf(name: string, above: Row, below: Row): Ratio {
  const byCpu = cpuRatioOf(above, below)
  const spread = quotients(above.perSecond, below.perSecond)
  return { name, spread, ...(byCpu === undefined ? {} : { byCpu }) }
}

/** What the ratio would be if nothing but CPU time counted; much less disturbed by others on the machine. */
function cpuRatioOf(above: Row, below: Row): Spread | undefined {
  if (above.cpuUs === null || below.cpuUs === null) return undefined
  return quotients(below.cpuUs.everything, above.cpuUs.everything)
}

function quotients(above: Spread, below: Spread): Spread {
  return spreadOf(above.rounds.map((value, round) => value / (below.rounds[round] ?? Number.NaN)))
}
