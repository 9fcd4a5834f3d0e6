import type { Harness } from './harness/harness.ts'
import { type GrpcLoadJob, isGrpcJob } from './load/grpc-load-job.ts'
import { faultCount, type LatencyMs, type LoadJob, type LoadResult } from './load/load-job.ts'
import { type Row, toCurve, toFigures } from './row.ts'
import type { ScenarioContext } from './scenario.ts'
import { toSpread } from './spread.ts'
import { withConfirmation } from './wrk/confirmation.ts'
import type { WrkResult } from './wrk/run-wrk.ts'
import { WRK_RATE } from './wrk/wrk-rate.ts'

export interface RowPlan {
  readonly name: string
  readonly job: LoadJob
  /** The workers that serve this row, the asked one first. */
  readonly workers: readonly Worker[]
  /** Called before each round of this row; what it returns is called after it, for figures of its own. */
  readonly watch?: () => Promise<(answers: number) => Promise<Figures>>
}

/** A plan whose load may also go over gRPC. */
export interface AnyRowPlan extends Omit<RowPlan, 'job'> {
  readonly job: LoadJob | GrpcLoadJob
}

export interface Worker {
  readonly name: string
  /** Undefined where the system does not tell. */
  cpuSeconds(): number | undefined
  /** Its memory now; absent where no scenario asks for it. */
  pssBytes?(): number | undefined
}

export type Figures = Readonly<Record<string, number>>

/** One round of one row. */
export interface Measurement {
  /** All of them. */
  readonly answers: number
  /** Those of them that no CPU time was taken for; 0 where absent. */
  readonly answersWithoutCpu?: number
  readonly answersPerSecond: number
  readonly latencyMs: Pick<LatencyMs, 'p50' | 'p99' | 'curve'>
  /** The CPU time of the row's workers, the asked one first. */
  readonly cpuSeconds: CpuSeconds
  readonly figures: Figures
}

export type CpuSeconds = readonly (number | undefined)[]

export type Measured = LoadResult & Measurement

/** A row that can be measured again and again. */
export interface RowSource {
  readonly name: string
  measure(): Promise<Measurement>
}

/**
 * The first row that asks a server warms up so many times as long in its first round; with more, three servers would not end
 * within a minute. V8 compiles a server's code anew during its first twenty to forty thousand sagas, the much smaller relay's
 * for a second: without this, half of a short run shows how they start.
 */
export const FIRST_WARM_UPS = 4

/** One round after the other of rows that are asked over HTTP. */
export async function runRounds(
  context: ScenarioContext,
  plans: readonly RowPlan[],
): Promise<readonly Row[]> {
  const { harness } = context
  const asked = new Set<string>()
  return await measureInTurn(
    context,
    plans.map((plan) => ({
      name: plan.name,
      measure: () => {
        const url = String(plan.job.url)
        const isFirst = !asked.has(url)
        asked.add(url)
        return measure(harness, isFirst ? withFirstWarmUp(plan) : plan)
      },
    })),
  )
}

function withFirstWarmUp(plan: RowPlan): RowPlan {
  const { length } = plan.job
  if (length.type !== 'time') return plan
  const warmUpSeconds = FIRST_WARM_UPS * length.warmUpSeconds
  return { ...plan, job: { ...plan.job, length: { ...length, warmUpSeconds } } }
}

/** Measures the rows in turn (A B A B …), so that what disturbs the machine for a while disturbs all of them. */
export async function measureInTurn(
  { settings, progress }: Pick<ScenarioContext, 'settings' | 'progress'>,
  sources: readonly RowSource[],
): Promise<readonly Row[]> {
  const results = sources.map((): Measurement[] => [])
  for (let round = 1; round <= settings.rounds; round += 1) {
    for (const [index, source] of sources.entries()) {
      progress.show(`round ${round} of ${settings.rounds}: ${source.name}`)
      results[index]?.push(await source.measure())
    }
  }
  return sources.map(({ name }, index) => toRow(name, results[index] ?? []))
}

/** One round of one row. Throws unless each answer was the expected one. */
export async function measure(harness: Harness, plan: AnyRowPlan): Promise<Measured> {
  const measured = await measureByOwnLoad(harness, plan)
  const confirmed = await measureByWrk(harness, plan)
  if (confirmed === undefined) return measured
  return {
    ...measured,
    answers: measured.answers + confirmed.answers,
    answersWithoutCpu: confirmed.answers,
    figures: { ...measured.figures, [WRK_RATE]: confirmed.answersPerSecond },
  }
}

async function measureByWrk(harness: Harness, { job, watch }: AnyRowPlan): Promise<WrkResult | undefined> {
  if (harness.wrk === undefined || isGrpcJob(job)) return undefined
  // The watch needs to prepare and to be waited for; its figures are those of our own load.
  const endWatch = await watch?.()
  const result = await harness.wrk.run(job)
  await endWatch?.(result?.answers ?? 0)
  return result
}

async function measureByOwnLoad(
  harness: Harness,
  { name, job, workers, watch }: AnyRowPlan,
): Promise<Measured> {
  const endWatch = await watch?.()
  const { result, cpuSeconds } = await withCpuSeconds([...workers, harness.loader], () => harness.load(job))
  if (result.answers === 0 || faultCount(result.faults) > 0) {
    const counts = JSON.stringify({ answers: result.answers, ...result.faults })
    throw new Error(`${name}: not every answer was as expected: ${counts} ${result.unexpected ?? ''}`)
  }
  return { ...result, cpuSeconds, figures: (await endWatch?.(result.answers)) ?? {} }
}

/** Runs `work` and measures how much CPU time the workers used meanwhile. */
export async function withCpuSeconds<Result>(
  workers: readonly Worker[],
  work: () => Promise<Result>,
): Promise<{ readonly result: Result; readonly cpuSeconds: CpuSeconds }> {
  const before = workers.map((worker) => worker.cpuSeconds())
  const result = await work()
  const cpuSeconds = workers.map((worker, index) => {
    const from = before[index]
    const to = worker.cpuSeconds()
    return from === undefined || to === undefined ? undefined : to - from
  })
  return { result, cpuSeconds }
}

export function toRow(name: string, results: readonly Measurement[]): Row {
  return withConfirmation({
    name,
    perSecond: toSpread(results.map(({ answersPerSecond }) => answersPerSecond)),
    p50Ms: toSpread(results.map(({ latencyMs }) => latencyMs.p50)),
    p99Ms: toSpread(results.map(({ latencyMs }) => latencyMs.p99)),
    ...toCurve(results.map(({ latencyMs }) => latencyMs.curve)),
    cpuUs: toCpuUs(results),
    answers: results.reduce((sum, { answers }) => sum + answers, 0),
    figures: toFigures(results.map(({ figures }) => figures)),
  })
}

function toCpuUs(results: readonly Measurement[]): Row['cpuUs'] {
  const asked: number[] = []
  const everything: number[] = []
  for (const { answers: all, answersWithoutCpu = 0, cpuSeconds } of results) {
    const answers = all - answersWithoutCpu
    const known = cpuSeconds.filter((seconds) => seconds !== undefined)
    const [first] = known
    if (first === undefined || known.length < cpuSeconds.length) return null
    asked.push((first / answers) * 1e6)
    everything.push((known.reduce((sum, seconds) => sum + seconds, 0) / answers) * 1e6)
  }
  return { asked: toSpread(asked), everything: toSpread(everything) }
}
