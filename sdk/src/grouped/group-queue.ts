import { AsyncResource } from 'node:async_hooks'
import { BranchError } from '../branch/branch-errors.ts'
import type { WaitingCall } from './serve-group.ts'

export interface GroupBounds {
  /** The largest number of calls in one group. */
  readonly groupMax: number
  /** The largest number of calls of one key that wait for a group. */
  readonly queueMax: number
  /** Says how long the first call of a group waits for others, in milliseconds. */
  readonly lingerMs: number
  /** A call whose group has not begun within this time is refused, because its caller has stopped waiting. */
  readonly timeoutMs: number
}

/**
 * Says how long the next group waits at most for a call that is alone in its group. That call itself may go on for all
 * of `timeoutMs`, as behind the plain barrier, for instance because it waits for another transaction's lock.
 */
const ALONE_MS_MAX = 1_000

/**
 * The loop of a queue serves the calls of many callers. In the async context of the call that began it, that caller's
 * request would be kept for as long as calls come, and what `apply` reads there would be wrong for the other calls.
 */
const OUTSIDE_OF_CALLS = new AsyncResource('counterstep.GroupQueue')

/**
 * The waiting calls of one key, in the order in which they came. One group runs at a time. While it commits, the calls
 * of the next group collect.
 */
export class GroupQueue {
  readonly #serve: (group: readonly WaitingCall[]) => Promise<void>
  readonly #bounds: GroupBounds
  readonly #onIdle: () => void
  #waiting: WaitingCall[] = []
  #isServing = false
  /** Ends the wait for more calls. It is undefined if there is no such wait. */
  #endLingering: (() => void) | undefined

  constructor(
    serve: (group: readonly WaitingCall[]) => Promise<void>,
    bounds: GroupBounds,
    onIdle: () => void,
  ) {
    this.#serve = serve
    this.#bounds = bounds
    this.#onIdle = onIdle
  }

  add(call: WaitingCall): void {
    if (this.#waiting.length >= this.#bounds.queueMax) {
      call.reject(new BranchError('BRANCH_QUEUE_FULL', `${this.#waiting.length} calls wait already`))
      return
    }
    this.#waiting.push(call)
    if (this.#waiting.length >= this.#bounds.groupMax) this.#endLingering?.()
    if (!this.#isServing) void OUTSIDE_OF_CALLS.runInAsyncScope(() => this.#serveAll())
  }

  async #serveAll(): Promise<void> {
    this.#isServing = true
    while (this.#waiting.length > 0) {
      // Calls that come in one turn of the event loop go together, also without `lingerMs`.
      await new Promise((resolve) => setImmediate(resolve))
      await this.#linger()
      this.#refuseLate()
      const group = this.#waiting.splice(0, this.#bounds.groupMax)
      await this.#serveInTurn(group)
    }
    this.#isServing = false
    this.#onIdle()
  }

  async #serveInTurn(group: readonly WaitingCall[]): Promise<void> {
    if (group.length === 0) return
    const serving = this.#serve(group)
    if (group.length > 1) return serving
    let timer: NodeJS.Timeout | undefined
    const patience = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, ALONE_MS_MAX)
    })
    await Promise.race([serving, patience])
    clearTimeout(timer)
  }

  #refuseLate(): void {
    const { timeoutMs } = this.#bounds
    const before = performance.now() - timeoutMs
    while (this.#waiting[0] !== undefined && this.#waiting[0].waitingSince < before) {
      const message = `its group had not begun within ${timeoutMs} ms`
      this.#waiting.shift()?.reject(new BranchError('BARRIER_TIMED_OUT', message))
    }
  }

  async #linger(): Promise<void> {
    const { lingerMs, groupMax } = this.#bounds
    if (lingerMs === 0 || this.#waiting.length >= groupMax) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, lingerMs)
      this.#endLingering = () => {
        clearTimeout(timer)
        resolve()
      }
    })
    this.#endLingering = undefined
  }
}
