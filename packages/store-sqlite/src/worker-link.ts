import { Worker } from 'node:worker_threads'
import { type DurabilityClass, StoreUnavailableError } from '@counterstep/core'
import { CounterstepError } from '@counterstep/protocol'
import type { Row } from './driver.ts'
import type { Read, Reply, Request, WorkerSettings, WriteResult } from './messages.ts'

/** Reads are answered within a batch's time; so many waiting ones mean that the disk hangs. */
const READS_MAX = 1_000

export interface BatchReceiver {
  written(results: readonly WriteResult[]): void
  notWritten(error: StoreUnavailableError): void
}

interface PendingRead {
  readonly resolve: (rows: readonly Row[]) => void
  readonly reject: (error: StoreUnavailableError) => void
}

/** The main thread's end of the worker: batches under way, answered in their order, some reads, and the end of all. */
export class WorkerLink {
  readonly durabilityClass: DurabilityClass
  readonly #worker: Worker
  readonly #onBroken: (error: StoreUnavailableError) => void
  readonly #reads = new Map<number, PendingRead>()
  readonly #batches: BatchReceiver[] = []
  #broken: StoreUnavailableError | undefined
  #onClosed: (() => void) | undefined
  #readId = 0

  private constructor(
    worker: Worker,
    durabilityClass: DurabilityClass,
    onBroken: (error: StoreUnavailableError) => void,
  ) {
    this.#worker = worker
    this.durabilityClass = durabilityClass
    this.#onBroken = onBroken
    worker.on('message', (reply: Reply) => this.#receive(reply))
    worker.on('error', (error) => this.#break('the worker failed', error))
    worker.on('exit', () => this.#exited())
  }

  static async start(
    settings: WorkerSettings,
    onBroken: (error: StoreUnavailableError) => void,
  ): Promise<WorkerLink> {
    const worker = new Worker(moduleUrl('sqlite-worker'), {
      workerData: settings,
      name: 'counterstep-sqlite',
    })
    const first = firstReply(worker)
    const reply = await first.catch((cause: unknown) => {
      throw new StoreUnavailableError(`${settings.path} could not be opened`, { applied: 'no', cause })
    })
    if (reply.type === 'opened') return new WorkerLink(worker, reply.durabilityClass, onBroken)
    await worker.terminate()
    const refusal = reply.type === 'refused' ? reply : { code: 'SAGA_INTERNAL' as const, message: reply.type }
    throw refusal.code === 'SAGA_STORE_UNAVAILABLE'
      ? new StoreUnavailableError(refusal.message, { applied: 'no' })
      : new CounterstepError(refusal.code, refusal.message)
  }

  /** Once broken, always: an earlier write may have landed, so no later call may be told that it did not. */
  get broken(): StoreUnavailableError | undefined {
    return this.#broken
  }

  write(request: Request & { type: 'write' }, receiver: BatchReceiver): void {
    this.#batches.push(receiver)
    this.#post(request)
  }

  read(read: Read): Promise<readonly Row[]> {
    if (this.#broken !== undefined) return Promise.reject(this.#broken)
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

  /** Resolves when the file is closed and the thread has ended. */
  async close(): Promise<void> {
    if (this.#broken !== undefined) {
      await this.#worker.terminate()
      return
    }
    await new Promise<void>((resolve) => {
      this.#onClosed = resolve
      this.#post({ type: 'close' })
    })
  }

  #post(request: Request): void {
    this.#worker.postMessage(request)
  }

  #receive(reply: Reply): void {
    switch (reply.type) {
      case 'written':
        this.#batches.shift()?.written(reply.results)
        return
      case 'notWritten':
        this.#batches.shift()?.notWritten(new StoreUnavailableError(reply.message, { applied: 'no' }))
        return
      case 'read':
        this.#takeRead(reply.id)?.resolve(reply.rows)
        return
      case 'notRead':
        this.#takeRead(reply.id)?.reject(new StoreUnavailableError(reply.message, { applied: 'no' }))
        return
      case 'broken':
        this.#break(reply.message)
        return
      default:
    }
  }

  #takeRead(id: number): PendingRead | undefined {
    const read = this.#reads.get(id)
    this.#reads.delete(id)
    return read
  }

  #exited(): void {
    if (this.#onClosed === undefined) this.#break('the worker has exited')
    this.#onClosed?.()
  }

  #break(message: string, cause?: unknown): void {
    if (this.#broken !== undefined) return
    const error = new StoreUnavailableError(`the store is broken: ${message}`, { applied: 'unknown', cause })
    this.#broken = error
    for (const read of this.#reads.values()) read.reject(error)
    this.#reads.clear()
    for (const batch of this.#batches.splice(0)) batch.notWritten(error)
    this.#onBroken(error)
  }
}

function firstReply(worker: Worker): Promise<Reply> {
  return new Promise((resolve, reject) => {
    worker.once('message', resolve)
    worker.once('error', reject)
    worker.once('exit', () => reject(new Error('the worker has exited')))
  })
}

/** Beside this module, with this module's extension: `.ts` in the checkout, `.js` when compiled. */
export function moduleUrl(name: string): URL {
  return new URL(`./${name}${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url)
}
