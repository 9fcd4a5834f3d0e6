import type { BranchAnswer, BranchCall, BranchCaller, Clock } from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'

/**
 * The branch calls of one invocation. No call outlives the invocation, and it is known which transactions have called.
 */
export class BoundedCalls implements BranchCaller {
  readonly #branches: BranchCaller
  readonly #clock: Clock
  readonly #until: number
  readonly #called = new Set<Gid>()
  readonly #inFlight = new Set<Promise<BranchAnswer>>()

  constructor(branches: BranchCaller, clock: Clock, until: number) {
    this.#branches = branches
    this.#clock = clock
    this.#until = until
  }

  /** Makes a call. A call that the end of the invocation cuts short is `unknown`, like every call without an answer. */
  async call(call: BranchCall): Promise<BranchAnswer> {
    this.#called.add(call.gid)
    const leftMs = Math.max(1, Math.floor(this.#until - this.#clock.now()))
    const answer = this.#branches.call({ ...call, timeoutMs: Math.min(call.timeoutMs, leftMs) })
    this.#inFlight.add(answer)
    try {
      return await answer
    } finally {
      this.#inFlight.delete(answer)
    }
  }

  hasCalled(gid: Gid): boolean {
    return this.#called.has(gid)
  }

  async waitUntilEnded(): Promise<void> {
    await Promise.allSettled(this.#inFlight)
  }

  /**
   * Waits for the calls. The connections stay open for the next invocation; the owner of the branch caller closes them.
   */
  close(): Promise<void> {
    return this.waitUntilEnded()
  }
}
