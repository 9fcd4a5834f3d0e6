/** Lets people preview, create, see, pause, resume and cancel bulk jobs. The worker gives the commands. */
import {
  BULK_DRAFT_MS,
  BULK_KEPT_MAX,
  BULK_KEPT_MS,
  BULK_RUNNING_MAX,
  type BulkJob,
  commandBulk,
  hasBulkEnded,
  type Ids,
  isAbandonedDraft,
  type ListQuery,
  type Store,
  splitIntoParts,
} from '@counterstep/core'
import {
  type Actor,
  type BulkCommand,
  type BulkGroup,
  type BulkPreview,
  type BulkView,
  CounterstepError,
  type Gid,
  type TransactionSummary,
} from '@counterstep/protocol'
import type { Looks } from '../looks.ts'
import { BulkDocuments, type JobWithList, type StoredJob } from './bulk-documents.ts'
import { type Collected, collectRows, type ListRows } from './collect-rows.ts'
import { newJobId } from './new-job-id.ts'
import { readShortList, shortenList } from './previewed-list.ts'
import { viewJob } from './view-job.ts'

const GROUPS_MAX = 20
const SAMPLES_MAX = 10
const TRIES_MAX = 20

/** A checked request. `choice` names the transactions, or says how to find them. */
export interface BulkOrder {
  readonly command: BulkCommand
  readonly choice:
    | { readonly gids: readonly Gid[] }
    | {
        readonly query: BulkQuery
        readonly filter: string
        /** The list of a preview in short. The job acts on no transaction that came to match after it. */
        readonly previewed?: string
      }
  readonly reason: string
  readonly ratePerSecond: number
  readonly canary: number
  readonly max: number
}

/** Hosts may do this with bulk jobs. */
export type BulkApi = Pick<BulkJobs, 'preview' | 'create' | 'list' | 'show' | 'command'>

export type BulkQuery = Omit<ListQuery, 'limit' | 'cursor' | 'order'>

export interface BulkJobsParts {
  readonly store: Store
  readonly ids: Ids
  /** A list waits for its turn among the readers. */
  readonly list: ListRows
  /** So does each look at jobs, since a long list keeps the thread busy. */
  readonly looks: Pick<Looks, 'take'>
  /** Epoch milliseconds. */
  readonly now: () => number
  /** A job of this node may be worked at. */
  readonly onChange: () => void
}

export class BulkJobs {
  readonly #parts: BulkJobsParts
  readonly #documents: BulkDocuments

  constructor(parts: BulkJobsParts) {
    this.#parts = parts
    this.#documents = new BulkDocuments(parts.store, parts.ids)
  }

  /** Says which transactions a job would act on, and changes nothing. */
  async preview({ choice, max }: BulkOrder, caller?: string): Promise<BulkPreview> {
    if ('gids' in choice)
      return {
        count: choice.gids.length,
        isExact: true,
        groups: [],
        samples: choice.gids.slice(0, SAMPLES_MAX),
      }
    const { rows, isExact } = await this.#collect(choice, max, caller)
    return {
      count: rows.length,
      isExact,
      ...(rows.length === 0 ? {} : { oldestAt: Math.min(...rows.map(({ createdAt }) => createdAt)) }),
      groups: groupRows(rows),
      samples: rows.slice(0, SAMPLES_MAX).map(({ gid }) => gid),
      previewed: shortenList(rows.map(({ gid }) => gid)),
    }
  }

  /**
   * Stores a draft of the job, then its list, then the job itself, which is durable when this resolves. After a crash in
   * between, nothing acts on the draft, and a node removes it with its list once its time is over.
   */
  async create(order: BulkOrder, by: Actor): Promise<BulkView> {
    const { now, ids, onChange } = this.#parts
    await this.#makeRoom()
    const { choice } = order
    const gids =
      'gids' in choice
        ? [...new Set(choice.gids)]
        : (await this.#collect(choice, order.max)).rows.map(({ gid }) => gid as Gid)
    const at = now()
    const job: BulkJob = {
      id: newJobId(ids.token()),
      command: order.command,
      reason: order.reason,
      by,
      createdAt: at,
      ...('filter' in choice ? { filter: choice.filter } : {}),
      ratePerSecond: order.ratePerSecond,
      canary: Math.min(order.canary, gids.length),
      total: gids.length,
      state: 'canary',
      stateSince: at,
      countedFrom: 0,
    }
    const parts = splitIntoParts(gids)
    // A node of an older version, which knows no drafts, leaves a paused job alone.
    const draft = await this.#documents.writeJob(
      { ...job, state: 'paused', draftUntil: at + BULK_DRAFT_MS },
      0,
    )
    if (draft === undefined) throw toContended()
    for (const [position, part] of parts.entries()) await this.#documents.writePart(job.id, position, part, 0)
    if ((await this.#documents.writeJob(job, draft.version)) === undefined) {
      // It took so long that a node has removed the draft, and parts that were written after that have no job.
      await this.#documents.removeParts(job.id)
      throw toContended()
    }
    onChange()
    return viewJob(job, parts)
  }

  async list(caller?: string): Promise<BulkView[]> {
    const jobs = await this.#documents.list(this.#parts.looks, caller)
    return jobs.map((job) => viewJob(job))
  }

  async show(id: string, caller?: string): Promise<BulkView> {
    const { job, parts } = await this.#find(id, caller)
    return viewJob(job, parts)
  }

  /** Another node may be working at the job. It meets the new version at its next save, and obeys. */
  async command(id: string, command: 'pause' | 'resume' | 'cancel', caller?: string): Promise<BulkView> {
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      const { job, version, parts } = await this.#find(id, caller)
      const next = commandBulk(job, parts, command, this.#parts.now())
      if (next === undefined) {
        const view = refuseOrView(job, command, viewJob(job, parts))
        await this.#parts.store.settle?.()
        return view
      }
      const saved = await this.#documents.writeJob(next, version)
      if (saved === undefined) continue
      this.#parts.onChange()
      return viewJob(next, parts)
    }
    throw toContended()
  }

  #collect(
    { query, previewed }: Extract<BulkOrder['choice'], { query: BulkQuery }>,
    max: number,
    caller?: string,
  ): Promise<Collected> {
    const wanted = previewed === undefined ? undefined : readShortList(previewed)
    return collectRows((page) => this.#parts.list(page, caller), query, { max, wanted })
  }

  async #find(id: string, caller?: string): Promise<JobWithList> {
    const found = await this.#documents.find(this.#parts.looks, id, caller)
    if (found === undefined) throw new CounterstepError('SAGA_UNKNOWN_JOB', 'there is no such bulk job')
    return found
  }

  /** Refuses a job too many, and removes old ones and drafts that were given up. */
  async #makeRoom(): Promise<void> {
    const jobs: StoredJob[] = []
    for (const stored of await this.#documents.readJobs()) {
      if (isAbandonedDraft(stored.job, this.#parts.now())) await this.#documents.removeJob(stored)
      else jobs.push(stored)
    }
    if (jobs.filter(({ job }) => !hasBulkEnded(job)).length >= BULK_RUNNING_MAX)
      throw new CounterstepError(
        'SAGA_TOO_MANY_JOBS',
        `${BULK_RUNNING_MAX} bulk jobs have not ended yet: wait for one, or cancel it`,
      )
    const ended = jobs
      .filter(({ job }) => hasBulkEnded(job))
      .sort((a, b) => b.job.createdAt - a.job.createdAt)
    const oldestAt = this.#parts.now() - BULK_KEPT_MS
    for (const [position, stored] of ended.entries()) {
      if (position >= BULK_KEPT_MAX - 1 || stored.job.createdAt < oldestAt)
        await this.#documents.removeJob(stored)
    }
  }
}

function toContended(): CounterstepError {
  return new CounterstepError('SAGA_CONTENDED', 'others change this job all the time: try again')
}

/** A command whose effect is there already is no error. */
function refuseOrView(job: BulkJob, command: 'pause' | 'resume' | 'cancel', view: BulkView): BulkView {
  const { state } = job
  const isThere = { pause: state === 'paused', cancel: state === 'cancelled', resume: !hasBulkEnded(job) }[
    command
  ]
  if (isThere) return view
  throw new CounterstepError('SAGA_JOB_ENDED', `this bulk job is ${state}`)
}

function groupRows(rows: readonly TransactionSummary[]): BulkGroup[] {
  const groups = new Map<string, BulkGroup>()
  for (const { problem, name } of rows) {
    const key = JSON.stringify([problem, name])
    const known = groups.get(key)
    groups.set(key, {
      ...(problem === undefined ? {} : { problem }),
      ...(name === undefined ? {} : { name }),
      count: (known?.count ?? 0) + 1,
    })
  }
  return [...groups.values()].sort((a, b) => b.count - a.count).slice(0, GROUPS_MAX)
}
