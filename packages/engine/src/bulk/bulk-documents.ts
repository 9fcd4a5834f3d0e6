import type { BulkJob, BulkPart, Ids, Store, StoredDocument } from '@counterstep/core'
import { CounterstepError } from '@counterstep/protocol'
import type { Looks } from '../looks.ts'

const JOBS = 'bulk'

/** A job as it is stored, with the version under which it may be changed. */
export interface StoredJob {
  readonly job: BulkJob
  readonly version: number
}

export interface JobWithList extends StoredJob {
  readonly parts: readonly BulkPart[]
}

export interface StoredPart {
  readonly part: BulkPart
  readonly version: number
}

/** Keeps the jobs, and the list of each, as documents. Each part of a list has a version of its own. */
export class BulkDocuments {
  readonly #store: Store
  readonly #ids: Ids

  constructor(store: Store, ids: Ids) {
    this.#store = store
    this.#ids = ids
  }

  async readJobs(): Promise<StoredJob[]> {
    return (await this.#store.readDocuments(JOBS)).map(readJob)
  }

  /** Lets people look at the jobs, newest first. */
  list(looks: Pick<Looks, 'take'>, caller?: string): Promise<BulkJob[]> {
    return looks.take(
      () => this.#store.readDocuments(JOBS),
      (texts) =>
        texts
          .map((text) => readJob(text).job)
          .filter(isWhole)
          .sort((a, b) => b.createdAt - a.createdAt),
      caller,
    )
  }

  /** Lets people look at a job and its list, which may have a megabyte. Undefined: there is no such job. */
  find(looks: Pick<Looks, 'take'>, id: string, caller?: string): Promise<JobWithList | undefined> {
    return looks.take(
      async () => {
        const [job] = (await this.#store.readDocuments(JOBS)).filter(({ key }) => key === id)
        const stored = job && readJob(job)
        if (stored === undefined || !isWhole(stored.job)) return undefined
        return { stored, texts: await this.#store.readDocuments(toPartsCategory(id)) }
      },
      (found) => found && { ...found.stored, parts: found.texts.map((text) => readPart(text).part) },
      caller,
    )
  }

  /** The list of a job never changes its order, and its parts come in it. */
  async readParts(jobId: string): Promise<StoredPart[]> {
    return (await this.#store.readDocuments(toPartsCategory(jobId))).map(readPart)
  }

  /** Returns undefined if another node or a person has changed the job. */
  async writeJob(job: BulkJob, expectedVersion: number): Promise<StoredJob | undefined> {
    const version = await this.#write(JOBS, job.id, job, expectedVersion)
    return version === undefined ? undefined : { job, version }
  }

  async writePart(
    jobId: string,
    at: number,
    part: BulkPart,
    expectedVersion: number,
  ): Promise<StoredPart | undefined> {
    const version = await this.#write(toPartsCategory(jobId), toPartKey(at), part, expectedVersion)
    return version === undefined ? undefined : { part, version }
  }

  /** Removes the list before the job, so that a crash in between leaves a job that is removed the next time. */
  async removeJob({ job, version }: StoredJob): Promise<void> {
    await this.removeParts(job.id)
    await this.#store.removeDocument({ category: JOBS, key: job.id, expectedVersion: version })
  }

  async removeParts(jobId: string): Promise<void> {
    const category = toPartsCategory(jobId)
    for (const { key, version: expectedVersion } of await this.#store.readDocuments(category)) {
      await this.#store.removeDocument({ category, key, expectedVersion })
    }
  }

  async #write(
    category: string,
    key: string,
    value: unknown,
    expectedVersion: number,
  ): Promise<number | undefined> {
    const text = JSON.stringify(value)
    const write = { category, key, text, expectedVersion, writeId: this.#ids.writeId() }
    const result = await this.#store.writeDocument(write)
    if (result.type === 'full')
      throw new CounterstepError('SAGA_TOO_MANY_JOBS', 'there is no room for another bulk job')
    return result.type === 'written' ? result.version : undefined
  }
}

/** A category has letters alone, and so has the id of a job. */
function toPartsCategory(jobId: string): string {
  return `bulk-${jobId}`
}

function toPartKey(at: number): string {
  return String(at).padStart(4, '0')
}

function readJob({ text, version }: StoredDocument): StoredJob {
  return { job: JSON.parse(text) as BulkJob, version }
}

function readPart({ text, version }: StoredDocument): StoredPart {
  return { part: JSON.parse(text) as BulkPart, version }
}

/** A job whose list is not whole yet is none. */
function isWhole({ draftUntil }: BulkJob): boolean {
  return draftUntil === undefined
}
