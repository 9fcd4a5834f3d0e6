import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { LoadJob, LoadResult } from '../load/load-job.ts'
import { Child, type ChildSpec } from './child.ts'
import { processPath, WORK_FOLDER } from './paths.ts'

const ASK_MS_MAX = 5_000
/** What a load run may take beyond its time: connecting and draining. */
const LOAD_MARGIN_MS = 60_000

/** Starts what a scenario needs and ends all of it: processes by pid, the run's folder with everything in it. */
export class Harness {
  readonly folder: string
  readonly #children: Child[] = []
  #load: Child | undefined

  constructor() {
    mkdirSync(WORK_FOLDER, { recursive: true })
    this.folder = mkdtempSync(join(WORK_FOLDER, 'run-'))
  }

  start(spec: ChildSpec): Child {
    const child = new Child(spec)
    this.#children.push(child)
    return child
  }

  /** The same load process for all rows, so that no row pays for its warming up. */
  get loader(): Child {
    this.#load ??= this.start({ name: 'load', script: processPath('load') })
    return this.#load
  }

  async load(job: LoadJob): Promise<LoadResult> {
    const limitMs = (job.warmUpSeconds + job.seconds) * 1000 + LOAD_MARGIN_MS
    // Both ends are of one checkout.
    return (await this.loader.ask(job, limitMs)) as LoadResult
  }

  async close(): Promise<void> {
    // Last started, first stopped: the server before the branches that it may still call.
    for (const child of this.#children.splice(0).reverse()) await child.stop()
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 3 })
  }
}

export interface Service {
  readonly url: string
  readonly child: Child
}

export interface Branch extends Service {
  /** How many calls it has answered. */
  callCount(): Promise<number>
}

export async function startBranch(harness: Harness): Promise<Branch> {
  const child = harness.start({ name: 'branch', script: processPath('branch') })
  const url = await child.url()
  return { url, child, callCount: async () => Number(await child.ask({ type: 'count' }, ASK_MS_MAX)) }
}

export async function startRelay(harness: Harness, branchUrl: string, calls: number): Promise<Service> {
  const args = [branchUrl, String(calls)]
  const child = harness.start({ name: 'relay', script: processPath('relay'), args })
  return { url: await child.url(), child }
}
