import type { BranchAnswer, BranchCall, BranchCaller, Clock } from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'
import { within } from '../until-definite.ts'

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
 * The errors of calls that end at their time limit: the service had the call, or it waited for its connection, or for a
 * place. Some of them come earlier, too, for other reasons.
 */
const ENDED_BY_LIMIT: ReadonlySet<string | undefined> = new Set(['timeout', 'connect-timeout', 'busy'])

/**
 * Functions of this process that go on though their signals have aborted are waited for until this long after the last
 * abort. Without a bound one of them would hold the function, and the answer to its caller, for as long as it runs.
 */
const OVERRUN_MS_MAX = 2_000

/**
 * The branch calls of one invocation. No call outlives the invocation, and it is known which transactions have called.
 */
export class BoundedCalls implements BranchCaller {
  readonly #parts: BoundedCallsParts
  readonly #called = new Set<Gid>()
  readonly #inFlight = new Set<Promise<BranchAnswer>>()
  /** The functions of this process that go on after their calls, by the promises of their ends. */
  readonly #overruns = new Map<Promise<void>, Gid>()
  #overrunsUntil = 0
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
    const begunAt = clock.now()
    const leftMs = Math.max(1, Math.floor(until - begunAt))
    const inFlight = branches.call({
      ...call,
      timeoutMs: Math.min(call.timeoutMs, leftMs),
      onOverrun: (ended) => this.#addOverrun(call.gid, ended),
    })
    this.#inFlight.add(inFlight)
    try {
      const answer = await inFlight
      const isAtLimit = ENDED_BY_LIMIT.has(answer.error) && clock.now() - begunAt >= leftMs
      const isCut = isAtLimit && leftMs < call.timeoutMs
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

  /**
   * Waits for the functions of this process that go on though their calls have ended, until `until` or for OVERRUN_MS_MAX.
   * Returns the transactions of those that still run.
   */
  async waitForOverruns(until: number): Promise<readonly Gid[]> {
    const { clock } = this.#parts
    const leftMs = Math.max(0, Math.min(until, this.#overrunsUntil) - clock.now())
    if (this.#overruns.size > 0) await within(clock, leftMs, Promise.all(this.#overruns.keys()))
    return [...this.#overruns.values()]
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

  #addOverrun(gid: Gid, ended: Promise<void>): void {
    this.#overrunsUntil = this.#parts.clock.now() + OVERRUN_MS_MAX
    const removed = ended.then(() => void this.#overruns.delete(removed))
    this.#overruns.set(removed, gid)
  }
}
