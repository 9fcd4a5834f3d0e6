import { StoreUnavailableError } from '@counterstep/core'
import { asOutcomeUnknown, isServerFault, SqlError, type SqlFault } from './sql-error.ts'

export interface QueueBounds {
  readonly batchRowsMax: number
  readonly batchBytesMax: number
  readonly queueRowsMax: number
  readonly queueBytesMax: number
  readonly flushesInFlightMax: number
  /** A flush that takes longer no longer keeps the next one from starting, since it may wait for another's lock. */
  readonly flushPatienceMs: number
}

/** One row's write, and the caller who waits for it. */
export interface QueuedWrite {
  readonly gid: string
  /** Counts towards the bytes of the queue and of a flush. */
  readonly length: number
  readonly reject: (error: Error) => void
}

/** Answers one caller. It is called after the COMMIT of the caller's row. */
export type Settlement = () => void

/** Writes the rows in one database transaction. The settlements are called after the COMMIT. */
export type WriteBatch<Write extends QueuedWrite> = (
  writes: readonly Write[],
) => Promise<readonly Settlement[]>

/**
 * Commits in groups. When it is idle, it sends the writes of one turn of the event loop at the end of that turn. While a
 * flush is in flight the next rows collect, until the flush is late or they are a full batch. A flush holds at most one
 * write of a gid, and no gid that another flush holds, so the writes of one gid go out in the order of the calls.
 */
export class WriteQueue<Write extends QueuedWrite> {
  readonly #write: WriteBatch<Write>
  readonly #bounds: QueueBounds
  /** At most one write of each gid, and none of a gid in flight. */
  #ready: Write[] = []
  /** For each gid that is ready or in flight, the writes that wait behind it. */
  readonly #waiting = new Map<string, Write[]>()
  #rows = 0
  #bytes = 0
  #flushes = 0
  #lateFlushes = 0
  /** Counts the batches that were written. */
  #written = 0
  #isFlushDue = false
  #onIdle: (() => void) | undefined

  constructor(write: WriteBatch<Write>, bounds: QueueBounds) {
    this.#write = write
    this.#bounds = bounds
  }

  add(write: Write): void {
    if (!this.#hasRoom(write.length)) {
      write.reject(new StoreUnavailableError('the write queue is full', { applied: 'no' }))
      return
    }
    this.#rows += 1
    this.#bytes += write.length
    const waiting = this.#waiting.get(write.gid)
    if (waiting !== undefined) {
      waiting.push(write)
      return
    }
    this.#waiting.set(write.gid, [])
    this.#ready.push(write)
    this.#flushSoon()
  }

  /** Resolves when everything queued is settled. */
  waitUntilIdle(): Promise<void> {
    if (this.#waiting.size === 0) return Promise.resolve()
    return new Promise((resolve) => {
      this.#onIdle = resolve
    })
  }

  #hasRoom(bytes: number): boolean {
    const { queueRowsMax, queueBytesMax } = this.#bounds
    return this.#rows < queueRowsMax && (this.#bytes === 0 || this.#bytes + bytes <= queueBytesMax)
  }

  #flushSoon(): void {
    if (this.#isFlushDue || !this.#mayFlush()) return
    this.#isFlushDue = true
    setImmediate(() => {
      this.#isFlushDue = false
      if (!this.#mayFlush()) return
      const batch = this.#takeBatch()
      if (batch.length > 0) void this.#flush(batch)
      if (this.#ready.length > 0) this.#flushSoon()
    })
  }

  #mayFlush(): boolean {
    const { flushesInFlightMax, flushPatienceMs, batchRowsMax } = this.#bounds
    if (this.#flushes >= flushesInFlightMax) return false
    // A full batch grows no more by waiting.
    return flushPatienceMs === 0 || this.#flushes === this.#lateFlushes || this.#ready.length >= batchRowsMax
  }

  #takeBatch(): readonly Write[] {
    const { batchRowsMax, batchBytesMax } = this.#bounds
    let rows = 0
    let bytes = 0
    for (const { length } of this.#ready) {
      if (rows === batchRowsMax || (rows > 0 && bytes + length > batchBytesMax)) break
      rows += 1
      bytes += length
    }
    return this.#ready.splice(0, rows)
  }

  async #flush(batch: readonly Write[]): Promise<void> {
    this.#flushes += 1
    let isLate = false
    const patience = setTimeout(() => {
      isLate = true
      this.#lateFlushes += 1
      this.#flushSoon()
    }, this.#bounds.flushPatienceMs)
    try {
      await this.#settle(batch)
    } finally {
      clearTimeout(patience)
      if (isLate) this.#lateFlushes -= 1
      this.#flushes -= 1
      // The next flush starts after the callers' own reactions, so that their next writes go with it.
      this.#flushSoon()
      if (this.#waiting.size === 0) this.#onIdle?.()
    }
  }

  /**
   * Returns the error that has rejected the batch, if there is one. `isInDoubt`: the batch was sent before, and may
   * have been applied.
   */
  async #settle(batch: readonly Write[], isInDoubt = false): Promise<unknown> {
    const writtenBefore = this.#written
    try {
      // The keys are in order, so that two flushes take their locks in the same order.
      const settlements = await this.#write([...batch].sort(byGid))
      this.#written += 1
      for (const settle of settlements) settle()
      this.#forget(batch)
      return undefined
    } catch (error: unknown) {
      if (batch.length > 1 && !isForAll(error)) return this.#settleOneByOne(batch, isOutcomeUnknown(error))
      this.#reject(batch, isInDoubt ? asOutcomeUnknown(error) : error)
      // A batch that was written meanwhile proves that the server is there for others.
      if (isServerGone(error) && this.#written === writtenBefore) this.#rejectReady(error)
      return error
    }
  }

  /** One row is locked, or cannot be written. Its neighbours do not wait for it a second time. */
  async #settleOneByOne(batch: readonly Write[], isInDoubt: boolean): Promise<void> {
    for (const [i, write] of batch.entries()) {
      const error = await this.#settle([write], isInDoubt)
      if (isServerGone(error)) {
        const unsent = toUnsent(error)
        this.#reject(batch.slice(i + 1), isInDoubt ? asOutcomeUnknown(unsent) : unsent)
        return
      }
    }
  }

  #reject(batch: readonly Write[], error: unknown): void {
    const reason = error instanceof Error ? error : new Error(String(error))
    for (const write of batch) write.reject(reason)
    this.#forget(batch)
  }

  /** The waiting writes would only meet the same error. They get it now, and none of them has been sent. */
  #rejectReady(error: StoreUnavailableError): void {
    while (this.#ready.length > 0) this.#reject(this.#ready.splice(0), toUnsent(error))
  }

  #forget(writes: readonly Write[]): void {
    for (const { gid, length } of writes) {
      this.#rows -= 1
      this.#bytes -= length
      const next = this.#waiting.get(gid)?.shift()
      if (next === undefined) this.#waiting.delete(gid)
      else this.#ready.push(next)
    }
  }
}

function byGid(a: QueuedWrite, b: QueuedWrite): number {
  return a.gid < b.gid ? -1 : 1
}

/** The error has not come from one row, nor from the locks of several. */
function isForAll(error: unknown): boolean {
  if (!(error instanceof StoreUnavailableError)) return false
  const fault = readFault(error)
  return fault !== 'lock-wait' && fault !== 'stall'
}

/**
 * A stall of one row alone is no queue of locks, so the server has gone. One connection that was lost during its COMMIT
 * says nothing about the next.
 */
function isServerGone(error: unknown): error is StoreUnavailableError {
  if (!(error instanceof StoreUnavailableError) || !(error.cause instanceof SqlError)) return false
  const { cause } = error
  if (isOutcomeUnknown(error) && cause.fault === 'lost') return false
  return isServerFault(cause) || cause.fault === 'stall'
}

function isOutcomeUnknown(error: unknown): boolean {
  return error instanceof StoreUnavailableError && error.applied === 'unknown'
}

/** These writes were never sent, whatever happened to the one that failed. */
function toUnsent({ message, cause }: StoreUnavailableError): StoreUnavailableError {
  return new StoreUnavailableError(message, { applied: 'no', cause })
}

function readFault({ cause }: StoreUnavailableError): SqlFault | undefined {
  return cause instanceof SqlError ? cause.fault : undefined
}
