import type { AsyncLocalStorage } from 'node:async_hooks'
import type { RejectionWatch } from '@counterstep/workflow'

type OnLate = (reason: unknown) => void

/** The rejections of promises that one run of a function has made, and that nothing has handled so far. */
class Watch implements RejectionWatch {
  readonly #reasons = new Map<unknown, unknown>()
  readonly #onLate: OnLate | undefined
  #isOpen = true

  constructor(onLate: OnLate | undefined) {
    this.#onLate = onLate
  }

  get reasons(): readonly unknown[] {
    return [...this.#reasons.values()]
  }

  /** Takes a rejection, so that the process does not see it. */
  take(promise: object, reason: unknown): boolean {
    if (!this.#isOpen && this.#onLate === undefined) return false
    watches.set(promise, this)
    if (this.#isOpen) this.#reasons.set(promise, reason)
    // It leaves the context of the function, since its own rejections would come back to it without an end.
    else running?.run(undefined, () => this.#onLate?.(reason))
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
let running: AsyncLocalStorage<Watch | undefined> | undefined

/**
 * Calls `run`, and takes the rejections of promises that it has made and that nothing handles. Node would end the process at
 * one of them, though the function may await that promise once something else has ended, which takes another plan. Those that
 * come when the watch is closed are handed to `onLate`, which must not throw; without it the process sees them. All others go
 * where they would have gone.
 */
export function watchRejections(run: () => void, onLate?: OnLate): RejectionWatch {
  const watch = new Watch(onLate)
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
function startTaking(process: NodeJS.Process): AsyncLocalStorage<Watch | undefined> {
  const { AsyncLocalStorage } = process.getBuiltinModule('node:async_hooks')
  const storage = new AsyncLocalStorage<Watch | undefined>()
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
