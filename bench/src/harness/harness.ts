import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { GrpcLoadJob } from '../load/grpc-load-job.ts'
import type { LoadJob, LoadLength, LoadResult } from '../load/load-job.ts'
import { Wrk } from '../wrk/run-wrk.ts'
import { Child, type ChildSpec } from './child.ts'
import { processPath, WORK_FOLDER } from './paths.ts'

/** A load run may take this much longer than its time, to connect and to drain. */
const LOAD_MARGIN_MS = 60_000
/** A count of answers has no time of its own. */
const COUNT_MS_MAX = 300_000

/** Starts what a scenario needs and ends all of it: processes by pid, databases, the run's folder with everything in it. */
export class Harness {
  readonly folder: string
  /** Measures each row again; absent unless that was asked for. */
  readonly wrk: Wrk | undefined
  readonly #closers: (() => Promise<void>)[] = []
  readonly #ending = new AbortController()
  #load: Child | undefined

  constructor(wrkProgram?: string) {
    mkdirSync(WORK_FOLDER, { recursive: true })
    this.folder = mkdtempSync(join(WORK_FOLDER, 'run-'))
    this.wrk = wrkProgram === undefined ? undefined : new Wrk(wrkProgram, this)
  }

  /** It is aborted when the harness closes, and ends the programs that run for a while and then end by themselves. */
  get ending(): AbortSignal {
    return this.#ending.signal
  }

  start(spec: ChildSpec): Child {
    const child = new Child(spec)
    this.atEnd(() => child.stop())
    return child
  }

  atEnd(close: () => Promise<void>): void {
    this.#closers.push(close)
  }

  /** The same load process for all rows, so that no row pays for its warming up. */
  get loader(): Child {
    this.#load ??= this.start({ name: 'load', script: processPath('load') })
    return this.#load
  }

  async load(job: LoadJob | GrpcLoadJob): Promise<LoadResult> {
    // Both ends are of one checkout.
    return (await this.loader.ask(job, toLimitMs(job.length))) as LoadResult
  }

  /** Closes all of it, even if a part fails. */
  async close(): Promise<void> {
    this.#ending.abort()
    const errors: unknown[] = []
    // Last started, first stopped: the server before the branches that it may still call, and before its database.
    for (const close of this.#closers.splice(0).reverse()) {
      await close().catch((error: unknown) => errors.push(error))
    }
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 3 })
    if (errors.length > 0) throw new AggregateError(errors, 'not everything could be ended')
  }
}

export interface Service {
  readonly url: string
  readonly child: Child
}

export async function startRelay(harness: Harness, branchUrl: string, calls: number): Promise<Service> {
  const args = [branchUrl, String(calls)]
  const child = harness.start({ name: 'relay', script: processPath('relay'), args })
  return { url: await child.url(), child }
}

function toLimitMs(length: LoadLength): number {
  return length.type === 'time'
    ? (length.warmUpSeconds + length.seconds) * 1000 + LOAD_MARGIN_MS
    : COUNT_MS_MAX
}
