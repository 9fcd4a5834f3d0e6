import type { BranchAnswer, BranchCall, BranchCaller, Clock } from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'

export interface BoundedCallsParts {
  readonly branches: BranchCaller
  readonly clock: Clock
  /** Every call has ended by this instant. */
  readonly until: number
  /**
   * A call that is cut at `until`, before its own time limit, has no answer until the transaction was given back. So it
   * is no failed attempt. The next owner makes the call again, where it may take longer.
   */
  readonly withholdsCut: boolean
}

/**
 * The branch calls of one invocation. No call outlives the invocation, and it is known which transactions have called.
 */
export class BoundedCalls implements BranchCaller {
  readonly #parts: BoundedCallsParts
  readonly #called = new Set<Gid>()
  readonly #inFlight = new Set<Promise<BranchAnswer>>()
  readonly #givenBack: Promise<void>
  #releaseCut: () => void = () => undefined

  constructor(parts: BoundedCallsParts) {
    this.#parts = parts
    this.#givenBack = new Promise((resolve) => {
      this.#releaseCut = resolve
    })
  }

  /** Makes a call. A call that the end of the invocation cuts short is `unknown`, like every call without an answer. */
  async call(call: BranchCall): Promise<BranchAnswer> {
    const { branches, clock, until, withholdsCut } = this.#parts
    this.#called.add(call.gid)
    const leftMs = Math.max(1, Math.floor(until - clock.now()))
    const inFlight = branches.call({ ...call, timeoutMs: Math.min(call.timeoutMs, leftMs) })
    this.#inFlight.add(inFlight)
    try {
      const answer = await inFlight
      const isCut = leftMs < call.timeoutMs && answer.error === 'timeout'
      if (isCut && withholdsCut) await this.#givenBack
      return answer
    } finally {
      this.#inFlight.delete(inFlight)
    }
  }

  hasCalled(gid: Gid): boolean {
    return this.#called.has(gid)
  }

  /** Waits until no call is under way. Some of them may have no answer yet. */
  async waitUntilEnded(): Promise<void> {
    await Promise.allSettled(this.#inFlight)
  }

  /** Gives their answers to the calls that were cut. Their transactions are not run here any more. */
  releaseCut(): void {
    this.#releaseCut()
  }

  /**
   * Waits for the calls. The connections stay open for the next invocation; the owner of the branch caller closes them.
   */
  close(): Promise<void> {
    return this.waitUntilEnded()
  }
}
