import { StoreUnavailableError } from '@counterstep/core'
import { isServerFault, SqlError, type SqlFault } from '../sessions/server-errors.ts'
import { doubted } from './doubted.ts'
import type { PendingWrite } from './pending-writes.ts'
import type { Settlement } from './settlement.ts'

export interface QueueBounds {
  readonly batchRowsMax: number
  readonly batchBytesMax: number
  readonly queueRowsMax: number
  readonly queueBytesMax: number
  readonly flushesInFlightMax: number
  /** A flush that takes longer keeps the next from starting no more: it may wait for somebody's lock. */
  readonly flushPatienceMs: number
}

/** Writes the rows in one database transaction; its settlements are called after the COMMIT. */
export type WriteBatch = (writes: readonly PendingWrite[]) => Promise<readonly Settlement[]>

/**
 * Group commit. Idle: what one turn of the event loop brings goes out at its end. While a flush is in flight the next
 * rows collect, until it is late or they are a full batch. A flush holds a gid once, and none that another flush holds: the writes of one gid go
 * out in the order of the calls.
 */
export class WriteQueue {
  readonly #write: WriteBatch
  readonly #bounds: QueueBounds
  /** At most one write of each gid, and none of a gid in flight. */
  #ready: PendingWrite[] = []
  /** For each gid that is ready or in flight, the writes that wait for it. */
  readonly #lanes = new Map<string, PendingWrite[]>()
  #rows = 0
  #bytes = 0
  #flushes = 0
  #lateFlushes = 0
  /** Batches that were written, ever. */
  #written = 0
  #isFlushDue = false
  #onIdle: (() => void) | undefined

  constructor(write: WriteBatch, bounds: QueueBounds) {
    this.#write = write
    this.#bounds = bounds
  }

  add(write: PendingWrite): void {
    if (!this.#hasRoom(write.length)) {
      write.reject(new StoreUnavailableError('the write queue is full', { applied: 'no' }))
      return
    }
    this.#rows += 1
    this.#bytes += write.length
    const lane = this.#lanes.get(write.gid)
    if (lane !== undefined) {
      lane.push(write)
      return
    }
    this.#lanes.set(write.gid, [])
    this.#ready.push(write)
    this.#flushSoon()
  }

  /** Resolves when everything queued is settled. */
  drained(): Promise<void> {
    if (this.#lanes.size === 0) return Promise.resolve()
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

  #takeBatch(): readonly PendingWrite[] {
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

  async #flush(batch: readonly PendingWrite[]): Promise<void> {
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
      // After the callers' own reactions, so that their next writes ride along.
      this.#flushSoon()
      if (this.#lanes.size === 0) this.#onIdle?.()
    }
  }

  /** The error that has rejected the batch, if one has. `isInDoubt`: it was sent before, and may have been applied. */
  async #settle(batch: readonly PendingWrite[], isInDoubt = false): Promise<unknown> {
    const writtenBefore = this.#written
    try {
      // In key order, so that two flushes take their locks in the same order.
      const settlements = await this.#write([...batch].sort(byGid))
      this.#written += 1
      for (const settle of settlements) settle()
      this.#left(batch)
      return undefined
    } catch (error: unknown) {
      if (batch.length > 1 && !isForAll(error)) return this.#settleOneByOne(batch, isUnknown(error))
      this.#reject(batch, isInDoubt ? doubted(error) : error)
      // What was written meanwhile proves that the server is there for others.
      if (isServerGone(error) && this.#written === writtenBefore) this.#rejectReady(error)
      return error
    }
  }

  /** One row's lock, or a row that nobody foresaw: its neighbours do not wait for it a second time. */
  async #settleOneByOne(batch: readonly PendingWrite[], isInDoubt: boolean): Promise<void> {
    for (const [i, write] of batch.entries()) {
      const error = await this.#settle([write], isInDoubt)
      if (isServerGone(error)) {
        const unsent = unsentAfter(error)
        this.#reject(batch.slice(i + 1), isInDoubt ? doubted(unsent) : unsent)
        return
      }
    }
  }

  #reject(batch: readonly PendingWrite[], error: unknown): void {
    const reason = error instanceof Error ? error : new Error(String(error))
    for (const write of batch) write.reject(reason)
    this.#left(batch)
  }

  /** What waits would only find the same: it is told now, and nothing of it has been sent. */
  #rejectReady(error: StoreUnavailableError): void {
    while (this.#ready.length > 0) this.#reject(this.#ready.splice(0), unsentAfter(error))
  }

  #left(writes: readonly PendingWrite[]): void {
    for (const { gid, length } of writes) {
      this.#rows -= 1
      this.#bytes -= length
      const next = this.#lanes.get(gid)?.shift()
      if (next === undefined) this.#lanes.delete(gid)
      else this.#ready.push(next)
    }
  }
}

function byGid(a: PendingWrite, b: PendingWrite): number {
  return a.gid < b.gid ? -1 : 1
}

/** Nothing that one row, or the locks of several, have brought about. */
function isForAll(error: unknown): boolean {
  if (!(error instanceof StoreUnavailableError)) return false
  const fault = faultOf(error)
  return fault !== 'lock-wait' && fault !== 'stall'
}

/** Of a row alone a stall is no queue of locks. One connection that was lost in its COMMIT says nothing of the next. */
function isServerGone(error: unknown): error is StoreUnavailableError {
  if (!(error instanceof StoreUnavailableError) || !(error.cause instanceof SqlError)) return false
  const { cause } = error
  if (isUnknown(error) && cause.fault === 'lost') return false
  return isServerFault(cause) || cause.fault === 'stall'
}

function isUnknown(error: unknown): boolean {
  return error instanceof StoreUnavailableError && error.applied === 'unknown'
}

/** Whatever became of what has met it: of these nothing was sent. */
function unsentAfter({ message, cause }: StoreUnavailableError): StoreUnavailableError {
  return new StoreUnavailableError(message, { applied: 'no', cause })
}

function faultOf({ cause }: StoreUnavailableError): SqlFault | undefined {
  return cause instanceof SqlError ? cause.fault : undefined
}
