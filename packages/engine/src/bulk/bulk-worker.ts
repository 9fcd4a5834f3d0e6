/** Gives the commands of bulk jobs. One node at a time works at a job; after a crash another one goes on with it. */
import {
  type BulkJob,
  type Clock,
  hasBulkEnded,
  type Ids,
  isAbandonedDraft,
  planBulk,
  type Store,
  StoreUnavailableError,
  withFates,
} from '@counterstep/core'
import { CounterstepError, type ErrorCode, type Gid, isCounterstepError } from '@counterstep/protocol'
import type { EngineObserver } from '../observer.ts'
import { delay } from '../until-definite.ts'
import { BulkDocuments, type StoredJob, type StoredPart } from './bulk-documents.ts'
import { findGiven, readFate } from './read-back.ts'

const LEASE_MS = 30_000
/** A node looks this often for jobs whose node has died. */
const LOOK_EVERY_MS = 10_000
const STEP_MS_MIN = 250
/** A pause by a person on another node is seen at a save. */
const SAVE_EVERY_MS = 1_000
const READ_BACK_EVERY_MS = 2_000
const READ_BACK_MAX = 100
/** Rows are read with their definitions, which may be large: so many at once, and no more once they have so many characters. */
const ROWS_AT_ONCE = 5
const READ_BACK_CHARACTERS_MAX = 16_000_000
const GIVEN_AT_ONCE_MAX = 4

/** Gives one command. It throws the refusal. */
export type GiveCommand = (gid: Gid, job: BulkJob) => Promise<unknown>

export interface BulkWorkerParts {
  readonly store: Store
  readonly clock: Clock
  readonly ids: Ids
  readonly observer: EngineObserver
  readonly give: GiveCommand
  /** Epoch milliseconds. */
  readonly now: () => number
  readonly nodeId: string
}

/** A job with its list, as this node knows them. */
interface Work {
  stored: StoredJob
  readonly parts: StoredPart[]
  savedAt: number
  readBackAt: number
  /** The next read begins at this position of the list. */
  readBackFrom: number
}

/** `moved`: a person or another node has changed the job, so it is looked at anew. */
type StepEnd = 'more' | 'rest' | 'moved'

type Change = {
  readonly position: number
  readonly fate: 'g' | 'o' | 'f' | 'r' | 'x'
  readonly code?: ErrorCode
}

export class BulkWorker {
  readonly #parts: BulkWorkerParts
  readonly #documents: BulkDocuments
  readonly #working = new Set<string>()
  #cancelLook: () => void = () => undefined
  #looking: Promise<void> | undefined
  #stopped = false

  constructor(parts: BulkWorkerParts) {
    this.#parts = parts
    this.#documents = new BulkDocuments(parts.store, parts.ids)
  }

  start(): void {
    this.lookNow()
  }

  stop(): void {
    this.#stopped = true
    this.#cancelLook()
  }

  /** Looks for jobs that no node works at. A look that is under way may have missed the newest, so another one follows. */
  lookNow(): void {
    if (this.#stopped) return
    this.#cancelLook()
    this.#looking = (this.#looking ?? Promise.resolve()).then(() => this.#look())
  }

  async #look(): Promise<void> {
    const { clock, observer } = this.#parts
    try {
      for (const stored of await this.#documents.readJobs()) {
        if (this.#stopped) break
        if (isAbandonedDraft(stored.job, this.#parts.now())) await this.#documents.removeJob(stored)
        else if (this.#mayTake(stored.job)) void this.#work(stored)
      }
    } catch (error: unknown) {
      const level = error instanceof StoreUnavailableError ? 'warn' : 'error'
      observer.event({ level, name: 'bulk-failed', error })
    }
    this.#cancelLook()
    this.#cancelLook = clock.after(LOOK_EVERY_MS, () => this.lookNow())
  }

  #mayTake(job: BulkJob): boolean {
    const { id, state, lease, draftUntil } = job
    if (draftUntil !== undefined || state === 'paused' || hasBulkEnded(job) || this.#working.has(id))
      return false
    return lease === undefined || lease.node === this.#parts.nodeId || lease.until < this.#parts.now()
  }

  /** Works at a job until it rests, until it is another's, or until the store does not answer. Then a later look goes on. */
  async #work(stored: StoredJob): Promise<void> {
    const { id } = stored.job
    let hasMoved = false
    this.#working.add(id)
    try {
      const work = await this.#take(stored)
      let next: StepEnd = work === undefined ? 'moved' : 'more'
      // Each step saves what it did, so nothing is left to do here.
      while (work !== undefined && next === 'more' && !this.#stopped) next = await this.#step(work)
      hasMoved = next === 'moved'
    } catch (error: unknown) {
      const level = error instanceof StoreUnavailableError ? 'warn' : 'error'
      this.#parts.observer.event({ level, name: 'bulk-failed', detail: `job ${id}`, error })
    } finally {
      this.#working.delete(id)
    }
    // A look that came while it counted as worked at has passed it over, so the look follows here.
    if (hasMoved) this.lookNow()
  }

  async #take(stored: StoredJob): Promise<Work | undefined> {
    const { clock } = this.#parts
    const taken = await this.#documents.writeJob(this.#withLease(stored.job), stored.version)
    if (taken === undefined) return undefined
    const parts = await this.#documents.readParts(stored.job.id)
    return {
      stored: taken,
      parts,
      savedAt: clock.now(),
      readBackAt: Number.NEGATIVE_INFINITY,
      readBackFrom: 0,
    }
  }

  #withLease(job: BulkJob): BulkJob {
    return { ...job, lease: { node: this.#parts.nodeId, until: this.#parts.now() + LEASE_MS } }
  }

  async #step(work: Work): Promise<StepEnd> {
    const { clock, now } = this.#parts
    const startedAt = clock.now()
    if (!(await this.#readBack(work))) return 'moved'
    const { job } = work.stored
    const step = planBulk(
      job,
      work.parts.map(({ part }) => part),
      now(),
    )
    let lastsMs = STEP_MS_MIN
    switch (step.type) {
      case 'rest':
        return 'rest'
      case 'enter': {
        const { pausedBy } = step
        const next = { ...job, state: step.state, stateSince: now(), ...(pausedBy && { pausedBy }) }
        return (await this.#save(work, next)) ? 'more' : 'moved'
      }
      case 'give':
        if (!(await this.#giveAll(work, step.positions))) return 'moved'
        lastsMs = Math.max(STEP_MS_MIN, (step.positions.length / job.ratePerSecond) * 1_000)
        break
      case 'wait':
        lastsMs = READ_BACK_EVERY_MS
    }
    if (clock.now() - work.savedAt > SAVE_EVERY_MS && !(await this.#save(work, job))) return 'moved'
    await delay(clock, lastsMs - (clock.now() - startedAt))
    return 'more'
  }

  /** Saves the job and keeps the lease. Returns false if another has changed it. */
  async #save(work: Work, job: BulkJob): Promise<boolean> {
    const saved = await this.#documents.writeJob(this.#withLease(job), work.stored.version)
    if (saved === undefined) return false
    work.stored = saved
    work.savedAt = this.#parts.clock.now()
    return true
  }

  /**
   * Gives the command to these, then saves what became of it. If the process dies in between, the next node gives it to
   * them again: each trail has the id of the job, so the second time changes nothing.
   */
  async #giveAll(work: Work, positions: readonly number[]): Promise<boolean> {
    const changes: Change[] = []
    const left = [...positions]
    const giveNext = async (): Promise<void> => {
      for (let position = left.shift(); position !== undefined && !this.#stopped; position = left.shift())
        changes.push(await this.#give(work, position))
    }
    await Promise.all(Array.from({ length: GIVEN_AT_ONCE_MAX }, giveNext))
    return await this.#change(work, changes)
  }

  async #give({ stored: { job }, parts }: Work, position: number): Promise<Change> {
    const gid = findGid(parts, position)
    try {
      await this.#parts.give(gid, job)
      return { position, fate: job.command === 'pause' || job.command === 'abort' ? 'o' : 'g' }
    } catch (error: unknown) {
      if (!isCounterstepError(error) || isOfStore(error)) throw error
      if (error.code === 'SAGA_UNKNOWN_GID') return { position, fate: 'x' }
      return { position, fate: 'r', code: error.code }
    }
  }

  /** Reads how some of those that got the command have got on. All have their turn, also if the first never get on. */
  async #readBack(work: Work): Promise<boolean> {
    const { clock, store } = this.#parts
    if (clock.now() - work.readBackAt < READ_BACK_EVERY_MS) return true
    work.readBackAt = clock.now()
    const given = findGiven(work.parts, work.readBackFrom, READ_BACK_MAX)
    const changes: Change[] = []
    let characters = 0
    for (let from = 0; from < given.length && characters < READ_BACK_CHARACTERS_MAX; from += ROWS_AT_ONCE) {
      const some = given.slice(from, from + ROWS_AT_ONCE)
      const rows = new Map((await store.readMany(some.map(({ gid }) => gid))).map((row) => [row.gid, row]))
      for (const { gid, position } of some) {
        const row = rows.get(gid)
        characters += row === undefined ? 0 : row.definition.length + row.progress.length
        // Without a row it has ended since it got the command, and was purged.
        const fate = row === undefined ? 'x' : readFate(row, work.stored.job.id)
        if (fate !== 'g') changes.push({ position, fate })
        work.readBackFrom = position + 1
      }
    }
    return await this.#change(work, changes)
  }

  /** Saves new fates. Returns false if another node has changed the list, which then works at the job. */
  async #change(work: Work, changes: readonly Change[]): Promise<boolean> {
    let from = 0
    for (const [at, { part, version }] of work.parts.entries()) {
      const here = changes
        .filter(({ position }) => position >= from && position < from + part.gids.length)
        .map((change) => ({ ...change, position: change.position - from }))
      from += part.gids.length
      if (here.length === 0) continue
      const saved = await this.#documents.writePart(work.stored.job.id, at, withFates(part, here), version)
      if (saved === undefined) return false
      work.parts[at] = saved
    }
    return true
  }
}

/** The store did not answer, so it is not known whether the command was stored. */
function isOfStore({ code }: CounterstepError): boolean {
  return ['SAGA_STORE_UNAVAILABLE', 'SAGA_STORE_CLOSED', 'SAGA_CONTENDED', 'SAGA_STOPPING'].includes(code)
}

function findGid(parts: readonly StoredPart[], position: number): Gid {
  let from = 0
  for (const { part } of parts) {
    const gid = part.gids[position - from]
    if (gid !== undefined) return gid
    from += part.gids.length
  }
  throw new CounterstepError('SAGA_INTERNAL', 'a bulk job lacks a part of its list')
}
