import type { Ask } from '../rules/ask.ts'
import { WaitGroups } from './wait-groups.ts'

interface Waiting {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: Error) => void
}

/** The promises that the function waits for. Once the plan is answered none of them ends any more. */
export class AskPromises {
  readonly groups = new WaitGroups()
  readonly #waiting = new Map<Ask, Waiting>()
  readonly #code = new Map<Ask, () => unknown>()
  #isClosed = false

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Makes the promise of an ask. Without one, because the plan will be refused, it never ends. */
  add(ask: Ask | undefined, code?: () => unknown): Promise<unknown> {
    if (ask === undefined) return waitForEver()
    if (code !== undefined) this.#code.set(ask, code)
    const promise = new Promise<unknown>((resolve, reject) => this.#waiting.set(ask, { resolve, reject }))
    // The function may await it later than it fails, which Node would take for a failure without a handler.
    promise.catch(() => undefined)
    this.groups.addAsk(promise, ask)
    return promise
  }

  resolve(ask: Ask, value: unknown): void {
    this.#waiting.get(ask)?.resolve(value)
  }

  reject(ask: Ask, error: Error): void {
    this.#waiting.get(ask)?.reject(error)
  }

  async runCode(ask: Ask): Promise<unknown> {
    return this.#code.get(ask)?.()
  }

  close(): void {
    this.#isClosed = true
    this.#waiting.clear()
    this.#code.clear()
  }
}

export function waitForEver<Value = unknown>(): Promise<Value> {
  return new Promise<Value>(() => undefined)
}
