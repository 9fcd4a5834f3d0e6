import { Worker } from 'node:worker_threads'
import { StoreUnavailableError } from '@counterstep/core'
import type { Row } from './driver.ts'
import type { Read, ReaderSettings, ReadReply, ReadRequest } from './messages.ts'
import { moduleUrl } from './worker-link.ts'

/** The engine bounds its readers below this; so many waiting ones mean that the disk hangs. */
const READS_MAX = 1_000
/** A store that is opened to be closed again soon needs no reader, and a start has better things to do. */
const START_AFTER_MS = 250

interface PendingRead {
  readonly resolve: (rows: readonly Row[]) => void
  readonly reject: (error: StoreUnavailableError) => void
}

/**
 * The main thread's end of the reader. A read shows every write that was acknowledged before it was asked for. The thread
 * starts at the first read or soon after the open, and holds nothing that would have to be kept: one that has died is replaced at the next read.
 */
export class ReaderLink {
  readonly #settings: ReaderSettings
  readonly #reads = new Map<number, PendingRead>()
  #worker: Worker | undefined
  readonly #startTimer: NodeJS.Timeout
  #failure: StoreUnavailableError | undefined
  #readId = 0

  constructor(settings: ReaderSettings) {
    this.#settings = settings
    // The thread starts ahead of the first read, which would otherwise wait for it to load its modules.
    this.#startTimer = setTimeout(() => this.#running(), START_AFTER_MS).unref()
  }

  read(read: Read): Promise<readonly Row[]> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure)
    if (this.#reads.size >= READS_MAX) {
      return Promise.reject(new StoreUnavailableError('too many reads are waiting', { applied: 'no' }))
    }
    this.#readId += 1
    const id = this.#readId
    return new Promise((resolve, reject) => {
      this.#reads.set(id, { resolve, reject })
      this.#post({ type: 'read', id, read })
    })
  }

  /** The file is broken: what is under way and all that comes is refused so. */
  fail(error: StoreUnavailableError): void {
    this.#failure = error
    this.#rejectAll(error)
  }

  /** Resolves when the thread has closed its connection and ended. */
  async close(): Promise<void> {
    clearTimeout(this.#startTimer)
    const worker = this.#worker
    if (worker === undefined) return
    const ended = new Promise((resolve) => worker.once('exit', resolve))
    this.#post({ type: 'close' })
    await ended
  }

  #running(): Worker {
    if (this.#worker !== undefined) return this.#worker
    const worker = new Worker(moduleUrl('sqlite-reader'), {
      workerData: this.#settings,
      name: 'counterstep-sqlite-reader',
    })
    worker.on('message', (reply: ReadReply) => this.#receive(reply))
    let cause: unknown
    worker.on('error', (error) => {
      cause = error
    })
    worker.on('exit', () => {
      this.#worker = undefined
      this.#rejectAll(new StoreUnavailableError('the reader has ended', { applied: 'no', cause }))
    })
    this.#worker = worker
    return worker
  }

  #post(request: ReadRequest): void {
    this.#running().postMessage(request)
  }

  #receive(reply: ReadReply): void {
    const read = this.#reads.get(reply.id)
    this.#reads.delete(reply.id)
    if (reply.type === 'read') read?.resolve(reply.rows)
    else read?.reject(new StoreUnavailableError(reply.message, { applied: 'no' }))
  }

  #rejectAll(error: StoreUnavailableError): void {
    for (const read of this.#reads.values()) read.reject(error)
    this.#reads.clear()
  }
}
