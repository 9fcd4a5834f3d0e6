import type { Harness } from './harness/harness.ts'
import { faultCount, type LoadJob, type LoadResult } from './load/load-job.ts'
import { figuresOf, type Row } from './row.ts'
import type { ScenarioContext } from './scenario.ts'
import { spreadOf } from './spread.ts'

export interface RowPlan {
  readonly name: string
  readonly job: LoadJob
  /** What works for this row, the asked one first. */
  readonly workers: readonly Worker[]
  /** Called before each round of this row; what it returns is called after it, for figures of its own. */
  readonly watch?: () => Promise<(answers: number) => Promise<Figures>>
}

export interface Worker {
  readonly name: string
  /** Undefined where the system does not tell. */
  cpuSeconds(): number | undefined
}

export type Figures = Readonly<Record<string, number>>

export interface Measured extends LoadResult {
  /** In the order of the plan's workers, the load last. */
  readonly cpuSeconds: readonly (number | undefined)[]
  readonly figures: Figures
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
      results[index]?.push(await measure(harness, plan))
    }
  }
  return plans.map(({ name }, index) => rowOf(name, results[index] ?? []))
}

/** One round of one row. Throws unless each answer was the expected one. */
export async function measure(harness: Harness, { name, job, workers, watch }: RowPlan): Promise<Measured> {
  const all = [...workers, harness.loader]
  const endWatch = await watch?.()
  const before = all.map((worker) => worker.cpuSeconds())
  const result = await harness.load(job)
  const cpuSeconds = all.map((worker, index) => {
    const from = before[index]
    const to = worker.cpuSeconds()
    return from === undefined || to === undefined ? undefined : to - from
  })
  if (result.answers === 0 || faultCount(result.faults) > 0) {
    const counts = JSON.stringify({ answers: result.answers, ...result.faults })
    throw new Error(`${name}: not every answer was as expected: ${counts} ${result.unexpected ?? ''}`)
  }
  return { ...result, cpuSeconds, figures: (await endWatch?.(result.answers)) ?? {} }
}

export function rowOf(name: string, results: readonly Measured[]): Row {
  return {
    name,
    perSecond: spreadOf(results.map(({ answersPerSecond }) => answersPerSecond)),
    p50Ms: spreadOf(results.map(({ latencyMs }) => latencyMs.p50)),
    p99Ms: spreadOf(results.map(({ latencyMs }) => latencyMs.p99)),
    cpuUs: cpuOf(results),
    answers: results.reduce((sum, { answers }) => sum + answers, 0),
    figures: figuresOf(results.map(({ figures }) => figures)),
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
