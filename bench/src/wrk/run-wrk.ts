import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { LatencyMs, LoadJob } from '../load/load-job.ts'
import { wrkScript } from './wrk-script.ts'

/** The last answers get this time after the measured part. */
const DRAIN_SECONDS = 2
const TIMEOUT_SECONDS = 40

export interface WrkResult {
  /** All of them. */
  readonly answers: number
  readonly answersPerSecond: number
  /** The times of all answers, with those of the warm-up and of the drain. */
  readonly latencyMs: LatencyMs
  /** Makes the text that replaced the job's `unique` in one request. The last request is as many as the answers. */
  readonly toUnique: (request: number) => string
}

/** The place where it runs. */
export interface WrkPlace {
  readonly folder: string
  /** Ends a run before its time. */
  readonly ending?: AbortSignal
}

/** Another program's measurement of the same row. */
export class Wrk {
  readonly #program: string
  readonly #place: WrkPlace
  #runs = 0

  constructor(program: string, place: WrkPlace) {
    this.#program = program
    this.#place = place
  }

  /** Undefined where wrk cannot ask what our own load asks. */
  async run(job: LoadJob): Promise<WrkResult | undefined> {
    const { length, connections, unique = '' } = job
    const [url, ...otherUrls] = typeof job.url === 'string' ? [job.url] : job.url
    if (length.type !== 'time' || url === undefined || otherUrls.length > 0) return undefined
    this.#runs += 1
    const run = `wrk${this.#runs}`
    const script = join(this.#place.folder, `wrk-${this.#runs}.lua`)
    writeFileSync(script, wrkScript(job, length, run))
    const seconds = Math.ceil(length.warmUpSeconds + length.seconds) + DRAIN_SECONDS
    const threads = '1'
    const options = [
      '-t',
      threads,
      '-c',
      String(connections),
      '-d',
      `${seconds}s`,
      '--timeout',
      `${TIMEOUT_SECONDS}s`,
    ]
    const { ending } = this.#place
    const { stdout } = await promisify(execFile)(this.#program, [...options, '-s', script, url], {
      ...(ending === undefined ? {} : { signal: ending }),
    })
    const { answers, measured, faults, latency } = readPrinted(stdout)
    if (answers === 0 || Object.values(faults).some((count) => count > 0))
      throw new Error(`wrk: not every answer was as expected: ${JSON.stringify({ answers, ...faults })}`)
    return {
      answers,
      answersPerSecond: measured / length.seconds,
      latencyMs: toLatency(latency),
      toUnique: (request) => `${unique}-${run}-${request}`,
    }
  }
}

interface Printed {
  readonly answers: number
  readonly measured: number
  readonly faults: Readonly<Record<string, number>>
  /** Shares of the answers, 0 to 1, with the microseconds within which they came. */
  readonly latency: readonly (readonly [share: number, us: number])[]
}

function readPrinted(stdout: string): Printed {
  const line = stdout.split('\n').find((each) => each.startsWith('{'))
  if (line === undefined) throw new Error(`wrk said nothing of its answers: ${stdout}`)
  // Our own script printed it.
  return JSON.parse(line) as Printed
}

function toLatency(latency: Printed['latency']): LatencyMs {
  const curve = latency.map(([share, us]) => ({ share, ms: us / 1_000 }))
  const at = (wanted: number) => curve.find(({ share }) => share === wanted)?.ms ?? Number.NaN
  return { p50: at(0.5), p90: at(0.9), p99: at(0.99), max: at(1), curve }
}
