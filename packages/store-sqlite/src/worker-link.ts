import { Worker } from 'node:worker_threads'
import { type DurabilityClass, type StoreEvent, StoreUnavailableError } from '@counterstep/core'
import { CounterstepError } from '@counterstep/protocol'
import type { Reply, Request, WorkerSettings, WriteResult } from './messages.ts'

export interface BatchReceiver {
  written(results: readonly WriteResult[]): void
  notWritten(error: StoreUnavailableError): void
}

/**
 * This is the main thread's side of the writer. It sends batches, which are answered in their order, and fails all of
 * them if the worker fails.
 */
export class WorkerLink {
  readonly durabilityClass: DurabilityClass
  /** Each warning says which other users may read or write a file or the folder, and how to change that. */
  readonly warnings: readonly StoreEvent[]
  readonly #worker: Worker
  readonly #onBroken: (error: StoreUnavailableError) => void
  readonly #batches: BatchReceiver[] = []
  #broken: StoreUnavailableError | undefined
  #onClosed: (() => void) | undefined

  private constructor(
    worker: Worker,
    { durabilityClass, warnings }: Reply & { readonly type: 'opened' },
    onBroken: (error: StoreUnavailableError) => void,
  ) {
    this.#worker = worker
    this.durabilityClass = durabilityClass
    this.warnings = warnings
    this.#onBroken = onBroken
    worker.on('message', (reply: Reply) => this.#receive(reply))
    worker.on('error', (error) => this.#break('the worker failed', error))
    worker.on('exit', () => this.#onExit())
  }

  static async start(
    settings: WorkerSettings,
    onBroken: (error: StoreUnavailableError) => void,
  ): Promise<WorkerLink> {
    const worker = new Worker(toModuleUrl('sqlite-worker'), {
      workerData: settings,
      name: 'counterstep-sqlite',
    })
    const first = awaitFirstReply(worker)
    const reply = await first.catch((cause: unknown) => {
      throw new StoreUnavailableError(`${settings.path} could not be opened`, { applied: 'no', cause })
    })
    if (reply.type === 'opened') return new WorkerLink(worker, reply, onBroken)
    await worker.terminate()
    const refusal = reply.type === 'refused' ? reply : { code: 'SAGA_INTERNAL' as const, message: reply.type }
    throw refusal.code === 'SAGA_STORE_UNAVAILABLE'
      ? new StoreUnavailableError(refusal.message, { applied: 'no' })
      : new CounterstepError(refusal.code, refusal.message)
  }

  /**
   * A broken store stays broken: an earlier write may have been applied, so no later call may be told that it was
   * not.
   */
  get broken(): StoreUnavailableError | undefined {
    return this.#broken
  }

  write(request: Request & { type: 'write' }, receiver: BatchReceiver): void {
    this.#batches.push(receiver)
    this.#post(request)
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
      case 'broken':
        this.#break(reply.message)
        return
      default:
    }
  }

  #onExit(): void {
    if (this.#onClosed === undefined) this.#break('the worker has exited')
    this.#onClosed?.()
  }

  #break(message: string, cause?: unknown): void {
    if (this.#broken !== undefined) return
    const error = new StoreUnavailableError(`the store is broken: ${message}`, { applied: 'unknown', cause })
    this.#broken = error
    for (const batch of this.#batches.splice(0)) batch.notWritten(error)
    this.#onBroken(error)
  }
}

function awaitFirstReply(worker: Worker): Promise<Reply> {
  return new Promise((resolve, reject) => {
    worker.once('message', resolve)
    worker.once('error', reject)
    worker.once('exit', () => reject(new Error('the worker has exited')))
  })
}

/** Finds a module beside this one with the same extension: `.ts` in the checkout, `.js` when compiled. */
export function toModuleUrl(name: string): URL {
  return new URL(`./${name}${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url)
}
