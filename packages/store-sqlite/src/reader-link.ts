import { Worker } from 'node:worker_threads'
import { StoreUnavailableError } from '@counterstep/core'
import type { Row } from './driver.ts'
import type { Read, ReaderSettings, ReadReply, ReadRequest } from './messages.ts'
import { toModuleUrl } from './worker-link.ts'

/** The engine allows fewer reads than this, so this many waiting reads mean that the disk hangs. */
const READS_MAX = 1_000
/** A store that is closed again soon needs no reader, and the reader's start must not delay the store's. */
const START_AFTER_MS = 250

interface PendingRead {
  readonly resolve: (rows: readonly Row[]) => void
  readonly reject: (error: StoreUnavailableError) => void
}

/**
 * This is the main thread's side of the reader. A read shows every write that was acknowledged before the read was
 * asked for. The thread starts at the first read, or soon after the store is opened. It has no state to keep, so the
 * next read replaces a thread that has died.
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
    this.#startTimer = setTimeout(() => this.#getWorker(), START_AFTER_MS).unref()
  }

  read(read: Read): Promise<readonly Row[]> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure)
    if (this.#reads.size >= READS_MAX) {
      return Promise.reject(new StoreUnavailableError('too many reads are waiting', { applied: 'no' }))
    }
    this.#readId += 1
    const id = this.#readId
    return new Promise((resolve, reject) => {
      // It throws for a query that no message can bring, which then must not wait for an answer.
      this.#post({ type: 'read', id, read })
      this.#reads.set(id, { resolve, reject })
    })
  }

  /** Rejects the reads under way and all later ones with this error, because the file is broken. */
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

  #getWorker(): Worker {
    if (this.#worker !== undefined) return this.#worker
    const worker = new Worker(toModuleUrl('sqlite-reader'), {
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
    this.#getWorker().postMessage(request)
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
