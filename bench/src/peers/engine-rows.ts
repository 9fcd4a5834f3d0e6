import { setTimeout as sleep } from 'node:timers/promises'
import { checkEqual } from '../check-counts.ts'
import type { Branch } from '../harness/branch.ts'
import { readFlushes } from '../harness/read-flushes.ts'
import type { LoadJob } from '../load/load-job.ts'
import { uniqueText } from '../load/unique-text.ts'
import {
  FIRST_WARM_UPS,
  type Figures,
  type Measurement,
  measure,
  type RowSource,
  type Worker,
  withCpuSeconds,
} from '../rounds.ts'
import type { ScenarioContext } from '../scenario.ts'
import { counted } from '../scenarios/counted.ts'
import { withStoreCpu } from '../scenarios/dtm/store-cpu.ts'
import type { Wrk } from '../wrk/run-wrk.ts'
import type { Asked, Engine } from './engine.ts'
import type { OpenedEngine } from './open-engines.ts'

export const FLUSHES = 'flushes'
export const MEMORY = 'memory MB'
export const STORE_MEMORY = 'store memory MB'

const BYTES_PER_MB = 1_000_000

/** Some of the sagas of each turn are asked for in the end. */
const GIDS_OF_A_TURN = 5

/** The load of all rows. Without wrk, our own load program takes its place. */
export interface PeerLoad {
  readonly branch: Branch
  readonly wrk: Wrk | undefined
}

/** An engine with as many callers as each of its rows has, measured in turn with others. */
export class EngineRows {
  readonly engine: OpenedEngine
  readonly #context: ScenarioContext
  readonly #load: PeerLoad
  /** The engine as one, and then its database. */
  readonly workers: readonly Worker[]
  readonly #gids: string[] = []
  #answers = 0
  #turns = 0

  constructor(context: ScenarioContext, engine: OpenedEngine, load: PeerLoad) {
    this.#context = context
    this.engine = engine
    this.#load = load
    const { processes, database } = engine.engine
    this.workers = [together(processes), ...database]
  }

  toSource(callers: number): RowSource {
    return {
      name: toRowName(this.engine.kind.name, callers),
      measure: () => this.#measure(callers),
    }
  }

  /** Throws unless the engine stores what the answers of all turns leave. */
  async audit(): Promise<Readonly<Record<string, number>>> {
    const asked: Asked = { answers: this.#answers, gids: this.#gids }
    return { answers: this.#answers, ...(await this.engine.engine.audit(asked)) }
  }

  async #measure(callers: number): Promise<Measurement> {
    const { name } = this.engine.kind
    this.#turns += 1
    const { seconds, warmUpSeconds } = this.#context.settings
    const unique = `${name}-${this.#turns}`
    const warmUps = this.#turns === 1 ? FIRST_WARM_UPS : 1
    const job = this.engine.engine.toJob({
      connections: callers,
      length: { type: 'time', warmUpSeconds: warmUps * warmUpSeconds, seconds },
      unique,
    })
    const { branch, wrk } = this.#load
    await branch.forget()
    const measured =
      wrk === undefined ? await this.#measureByOwnLoad(job) : await this.#measureByWrk(wrk, job)
    const branchCalls = await branch.callCount()
    const callsExpected = measured.answers * this.#context.settings.branches
    checkEqual({ [`${name}: callsExpected`]: callsExpected, branchCalls })
    this.#answers += measured.answers
    return withStoreCpu(measured, this.workers)
  }

  /** wrk warms up in a run of its own, since the times that it tells are those of a whole run. */
  async #measureByWrk(wrk: Wrk, job: LoadJob): Promise<Measurement> {
    const { length } = job
    if (length.type !== 'time') throw new Error('wrk measures for a time')
    const warmUp = await wrk.run({
      ...job,
      length: { ...length, warmUpSeconds: 0, seconds: length.warmUpSeconds },
    })
    const running = wrk.run({ ...job, length: { ...length, warmUpSeconds: 0 } })
    // It may fail before it is awaited.
    running.catch(() => undefined)
    const before = readFlushes()
    const { cpuSeconds } = await withCpuSeconds(this.workers, () => this.#wait(length.seconds))
    const after = readFlushes()
    const memory = toMemoryFigures(this.engine.engine)
    const result = await running
    if (warmUp === undefined || result === undefined) throw new Error('wrk cannot ask for this')
    // The last answers come after the measured time, in which the CPU time and the flushes were taken.
    const inTime = Math.round(result.answersPerSecond * length.seconds)
    const answers = warmUp.answers + result.answers
    if (job.unique !== undefined) this.#gids.push(...spread(result.answers).map(result.toUnique))
    return {
      answers,
      answersWithoutCpu: answers - inTime,
      answersPerSecond: result.answersPerSecond,
      latencyMs: result.latencyMs,
      cpuSeconds,
      figures: { ...toFlushFigure(before, after, inTime), ...memory },
    }
  }

  async #measureByOwnLoad(job: LoadJob): Promise<Measurement> {
    const { harness } = this.#context
    const before = readFlushes()
    const measured = await measure(harness, { name: this.engine.kind.name, job, workers: this.workers })
    const after = readFlushes()
    if (job.unique !== undefined) this.#gids.push(uniqueText(job.unique, 1, 1))
    return {
      answers: measured.answers,
      answersPerSecond: measured.answersPerSecond,
      latencyMs: measured.latencyMs,
      cpuSeconds: measured.cpuSeconds.slice(0, this.workers.length),
      figures: {
        ...toFlushFigure(before, after, measured.answers),
        ...toMemoryFigures(this.engine.engine),
      },
    }
  }

  async #wait(seconds: number): Promise<void> {
    await sleep(seconds * 1_000, undefined, { signal: this.#context.harness.ending })
  }
}

export function toRowName(engine: string, callers: number): string {
  return `${engine}, ${counted(callers, 'caller')}`
}

function together(workers: readonly Worker[]): Worker {
  return {
    name: 'engine',
    cpuSeconds: () => {
      const seconds = workers.map((worker) => worker.cpuSeconds())
      return seconds.reduce(
        (sum, each) => (sum === undefined || each === undefined ? undefined : sum + each),
        0,
      )
    },
  }
}

function toFlushFigure(before: number | undefined, after: number | undefined, answers: number) {
  return before === undefined || after === undefined ? {} : { [FLUSHES]: (after - before) / answers }
}

function toMemoryFigures({ processes, database }: Engine): Figures {
  const memory = sumMegabytes(processes)
  const storeMemory = database.length === 0 ? undefined : sumMegabytes(database)
  return {
    ...(memory === undefined ? {} : { [MEMORY]: memory }),
    ...(storeMemory === undefined ? {} : { [STORE_MEMORY]: storeMemory }),
  }
}

function sumMegabytes(workers: readonly Worker[]): number | undefined {
  let bytes = 0
  for (const worker of workers) {
    const own = worker.pssBytes?.()
    if (own === undefined) return undefined
    bytes += own
  }
  return bytes / BYTES_PER_MB
}

/** Some numbers from the first to the last of so many. */
function spread(count: number): readonly number[] {
  const steps = Math.min(GIDS_OF_A_TURN, count)
  return Array.from(
    { length: steps },
    (_, step) => 1 + Math.floor((step * (count - 1)) / Math.max(1, steps - 1)),
  )
}
