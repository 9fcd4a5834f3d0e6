import type { AsyncLocalStorage } from 'node:async_hooks'
import type { RejectionWatch } from '@counterstep/workflow'

/** The rejections of promises that one run of a function has made, and that nothing has handled so far. */
class Watch implements RejectionWatch {
  readonly #reasons = new Map<unknown, unknown>()
  #isOpen = true

  get reasons(): readonly unknown[] {
    return [...this.#reasons.values()]
  }

  /** Takes a rejection, so that the process does not see it. */
  take(promise: object, reason: unknown): boolean {
    if (!this.#isOpen) return false
    this.#reasons.set(promise, reason)
    watches.set(promise, this)
    return true
  }

  /** Lets go of a rejection that has been handled after all. */
  drop(promise: object): void {
    this.#reasons.delete(promise)
  }

  close(): void {
    this.#isOpen = false
  }
}

const watches = new WeakMap<object, Watch>()
let running: AsyncLocalStorage<Watch> | undefined

/**
 * Calls `run`, and takes the rejections of promises that it has made and that nothing handles, until the watch is closed.
 * Node would end the process at one of them, though the function may await that promise once something else has ended, which
 * takes another plan. All others go where they would have gone.
 */
export function watchRejections(run: () => void): RejectionWatch {
  const watch = new Watch()
  const { process } = globalThis
  // Elsewhere than in Node nothing is watched.
  if (typeof process?.getBuiltinModule === 'function') {
    running ??= startTaking(process)
    running.run(watch, run)
  } else run()
  return watch
}

/**
 * A listener could not keep a rejection from the listeners of others, and many of them end the process. Node calls `emit` of
 * the process for each rejection, in the context of its promise, and does nothing itself where that returns true.
 */
function startTaking(process: NodeJS.Process): AsyncLocalStorage<Watch> {
  const { AsyncLocalStorage } = process.getBuiltinModule('node:async_hooks')
  const storage = new AsyncLocalStorage<Watch>()
  const emit = process.emit
  const emitOthers = function (this: NodeJS.Process, ...event: unknown[]): boolean {
    const [name, value, promise] = event
    if (name === 'unhandledRejection' && storage.getStore()?.take(promise as object, value) === true)
      return true
    const watch = name === 'rejectionHandled' ? watches.get(value as object) : undefined
    watch?.drop(value as object)
    return watch !== undefined || Reflect.apply(emit, this, event)
  }
  process.emit = emitOthers as typeof process.emit
  return storage
}
