import type { BranchAnswer, BranchCall, BranchCaller, Clock } from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'

/** A caller's calls during one invocation: none outlives it, and it is known which transactions called. */
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

  /** One that is cut short by the end is `unknown` like any other that has not answered. */
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

  async ended(): Promise<void> {
    await Promise.allSettled(this.#inFlight)
  }

  /** The connections go on to the next invocation; who made the caller closes it. */
  close(): Promise<void> {
    return this.ended()
  }
}
