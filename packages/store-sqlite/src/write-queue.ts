import { AssertionError, StoreUnavailableError } from '@counterstep/core'
import type { RowError, Write, WriteResult } from './messages.ts'
import type { WorkerLink } from './worker-link.ts'

/**
 * One batch is written while the next is on its way, so that the thread does not wait for a busy event loop between
 * them.
 */
const UNDER_WAY_MAX = 2

export interface QueueBounds {
  readonly batchRowsMax: number
  readonly batchBytesMax: number
  readonly queueRowsMax: number
  readonly queueBytesMax: number
}

export interface WriteSize {
  readonly rows: number
  readonly bytes: number
}

interface Batch {
  readonly writes: Write[]
  readonly pending: PendingWrite[]
  rows: number
  bytes: number
}

/** The `now` is the time that was sent with the batch. The `context` is what the answer needs from the call. */
export type Decode<Context, Result> = (result: WriteResult, now: number, context: Context) => Result

interface PendingWrite {
  readonly settle: (result: WriteResult, now: number) => void
  readonly reject: (error: Error) => void
}

/**
 * Commits in groups. The writes of one turn of the event loop leave at the end of that turn. While two batches are
 * under way the next writes collect in the order of the calls, so a gid may be in a batch several times.
 */
export class WriteQueue {
  readonly #link: WorkerLink
  readonly #now: () => number
  readonly #bounds: QueueBounds
  readonly #batches: Batch[] = []
  #rows = 0
  #bytes = 0
  #underWay = 0
  #isFlushDue = false
  #onIdle: (() => void) | undefined
  commits = 0
  rowsCommitted = 0

  constructor(link: WorkerLink, now: () => number, bounds: QueueBounds) {
    this.#link = link
    this.#now = now
    this.#bounds = bounds
  }

  write<Context, Result>(
    write: Write,
    size: WriteSize,
    decode: Decode<Context, Result>,
    context: Context,
  ): Promise<Result> {
    const refusal = this.#findRefusal(size.bytes)
    if (refusal !== undefined) return Promise.reject(refusal)
    if (!write.every(isCell)) {
      return Promise.reject(new AssertionError('a write with a value that is neither text nor number'))
    }
    return new Promise<Result>((resolve, reject) => {
      const settle = (result: WriteResult, now: number) => {
        if (isRowError(result)) reject(new AssertionError(result.error))
        else resolve(decode(result, now, context))
      }
      this.#add(write, { settle, reject }, size)
    })
  }

  /** Resolves when everything queued is settled. */
  waitUntilIdle(): Promise<void> {
    if (this.#underWay === 0 && this.#batches.length === 0) return Promise.resolve()
    return new Promise((resolve) => {
      this.#onIdle = resolve
    })
  }

  /** Rejects the waiting writes after the link has broken. */
  reject(error: StoreUnavailableError): void {
    for (const batch of this.#batches.splice(0)) for (const write of batch.pending) write.reject(error)
    this.#onIdle?.()
  }

  #findRefusal(bytes: number): StoreUnavailableError | undefined {
    if (this.#link.broken !== undefined) return this.#link.broken
    const { queueRowsMax, queueBytesMax } = this.#bounds
    if (this.#rows < queueRowsMax && (this.#bytes === 0 || this.#bytes + bytes <= queueBytesMax))
      return undefined
    return new StoreUnavailableError('the write queue is full', { applied: 'no' })
  }

  #pickBatch({ rows, bytes }: WriteSize): Batch {
    const { batchRowsMax, batchBytesMax } = this.#bounds
    const last = this.#batches.at(-1)
    const hasRoom =
      last !== undefined && last.rows + rows <= batchRowsMax && last.bytes + bytes <= batchBytesMax
    return hasRoom ? last : { writes: [], pending: [], rows: 0, bytes: 0 }
  }

  #add(write: Write, pending: PendingWrite, size: WriteSize): void {
    const batch = this.#pickBatch(size)
    if (batch.writes.length === 0) this.#batches.push(batch)
    batch.writes.push(write)
    batch.pending.push(pending)
    batch.rows += size.rows
    batch.bytes += size.bytes
    this.#rows += size.rows
    this.#bytes += size.bytes
    this.#flushSoon()
  }

  #flushSoon(): void {
    if (this.#underWay >= UNDER_WAY_MAX || this.#isFlushDue) return
    this.#isFlushDue = true
    setImmediate(() => {
      this.#isFlushDue = false
      this.#flush()
    })
  }

  #flush(): void {
    if (this.#underWay >= UNDER_WAY_MAX) return
    const batch = this.#batches.shift()
    if (batch === undefined) {
      if (this.#underWay === 0) this.#onIdle?.()
      return
    }
    this.#underWay += 1
    const { writes, rows, bytes } = batch
    const now = this.#now()
    this.#rows -= rows
    this.#bytes -= bytes
    const receiver = {
      written: (results: readonly WriteResult[]) => this.#settle(batch, results, now),
      notWritten: (error: StoreUnavailableError) => this.#rejectBatch(batch, error),
    }
    this.#link.write({ type: 'write', now, writes, rows, bytes }, receiver)
  }

  #settle(batch: Batch, results: readonly WriteResult[], now: number): void {
    this.commits += 1
    this.rowsCommitted += batch.rows
    this.#underWay -= 1
    batch.pending.forEach((write, i) => {
      try {
        write.settle(results[i] ?? { error: 'no result' }, now)
      } catch (error: unknown) {
        // A row that cannot be decoded fails only for its caller, and not for its neighbours.
        write.reject(new AssertionError(String(error)))
      }
    })
    // The next flush starts after the callers' own reactions, so that their next writes go with it.
    this.#flushSoon()
  }

  #rejectBatch(batch: Batch, error: StoreUnavailableError): void {
    this.#underWay -= 1
    for (const write of batch.pending) write.reject(error)
    this.#flushSoon()
  }
}

function isRowError(result: WriteResult): result is RowError {
  return typeof result === 'object' && 'error' in result
}

/** A value that no message can carry would take its neighbours with it, so it is found before it is among them. */
function isCell(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number' || value === null
}
