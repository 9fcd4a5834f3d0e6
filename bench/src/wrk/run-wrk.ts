import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { LoadJob } from '../load/load-job.ts'
import { wrkScript } from './wrk-script.ts'

/** The last answers get this time after the measured part. */
const DRAIN_SECONDS = 2
const TIMEOUT_SECONDS = 40

export interface WrkResult {
  /** All of them. */
  readonly answers: number
  readonly answersPerSecond: number
}

interface Printed {
  readonly answers: number
  readonly measured: number
  readonly faults: Readonly<Record<string, number>>
}

/** Another program's measurement of the same row. */
export class Wrk {
  readonly #program: string
  readonly #folder: string
  #runs = 0

  constructor(program: string, folder: string) {
    this.#program = program
    this.#folder = folder
  }

  /** Undefined where wrk cannot ask what our own load asks. */
  async run(job: LoadJob): Promise<WrkResult | undefined> {
    const { length, connections } = job
    const [url, ...otherUrls] = typeof job.url === 'string' ? [job.url] : job.url
    if (length.type !== 'time' || url === undefined || otherUrls.length > 0) return undefined
    this.#runs += 1
    const script = join(this.#folder, `wrk-${this.#runs}.lua`)
    writeFileSync(script, wrkScript(job, length, `wrk${this.#runs}`))
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
    const { stdout } = await promisify(execFile)(this.#program, [...options, '-s', script, url])
    const { answers, measured, faults } = readPrinted(stdout)
    if (answers === 0 || Object.values(faults).some((count) => count > 0))
      throw new Error(`wrk: not every answer was as expected: ${JSON.stringify({ answers, ...faults })}`)
    return { answers, answersPerSecond: measured / length.seconds }
  }
}

function readPrinted(stdout: string): Printed {
  const line = stdout.split('\n').find((each) => each.startsWith('{'))
  if (line === undefined) throw new Error(`wrk said nothing of its answers: ${stdout}`)
  // Our own script printed it.
  return JSON.parse(line) as Printed
}
