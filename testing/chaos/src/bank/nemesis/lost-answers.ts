import { isHttpPost, type ProxyFault, type RequestTrigger, type TcpProxy } from '@counterstep/test-servers'
import type { SeededRandom } from '../seeded-random.ts'

/** So that what is sent again mostly gets through. */
const HIT = 0.5
/** Commits that never arrive, beside those whose answer is lost. */
const REQUESTS_LOST_SHARE = 0.1
const CLIENT_ANSWERS_LOST = 0.03
const BANK_ANSWERS_LOST = 0.02

export interface LostAnswersDeps {
  readonly random: SeededRandom
  /** The progress from 0 to 1. */
  readonly progress: () => number
  /** The number of commits whose answer gets lost, over the whole run. */
  readonly ambiguousCommits: number
}

/** Answers that are lost after the request took effect, all through the run, on every kind of edge. */
export class LostAnswers {
  readonly #deps: LostAnswersDeps
  readonly #commits: ProxyFault[] = []
  readonly #commitRequests: ProxyFault[] = []
  readonly #submits: ProxyFault[] = []
  readonly #branchCalls: ProxyFault[] = []

  constructor(deps: LostAnswersDeps) {
    this.#deps = deps
  }

  ofCommits(proxy: TcpProxy, isCommit: RequestTrigger): void {
    const { random, progress, ambiguousCommits } = this.#deps
    const isBehind = () => countBites(this.#commits) < ambiguousCommits * progress()
    this.#commits.push(
      proxy.dropAnswerWhen(
        (chunk, connection) => isCommit(chunk, connection) && isBehind() && random.chance(HIT),
        Number.POSITIVE_INFINITY,
      ),
    )
    const lostMax = () => ambiguousCommits * REQUESTS_LOST_SHARE * progress()
    this.#commitRequests.push(
      proxy.cutBefore(
        (chunk, connection) =>
          isCommit(chunk, connection) && countBites(this.#commitRequests) < lostMax() && random.chance(HIT),
        Number.POSITIVE_INFINITY,
      ),
    )
  }

  /** The paths of the HTTP API begin with `prefix`. */
  ofSubmits(proxy: TcpProxy, prefix = ''): void {
    this.#submits.push(this.#rare(proxy, `${prefix}/v1/transactions`, CLIENT_ANSWERS_LOST))
  }

  ofBranchCalls(proxy: TcpProxy): void {
    this.#branchCalls.push(this.#rare(proxy, '/move', BANK_ANSWERS_LOST))
  }

  counts(): {
    readonly commits: number
    readonly commitRequests: number
    readonly submits: number
    readonly branchCalls: number
  } {
    return {
      commits: countBites(this.#commits),
      commitRequests: countBites(this.#commitRequests),
      submits: countBites(this.#submits),
      branchCalls: countBites(this.#branchCalls),
    }
  }

  heal(): void {
    for (const fault of [this.#commits, this.#commitRequests, this.#submits, this.#branchCalls].flat()) {
      fault.cancel()
    }
  }

  #rare(proxy: TcpProxy, path: string, share: number): ProxyFault {
    const { random } = this.#deps
    return proxy.dropAnswerWhen(
      (chunk) => isHttpPost(chunk, path) && random.chance(share),
      Number.POSITIVE_INFINITY,
    )
  }
}

function countBites(faults: readonly ProxyFault[]): number {
  return faults.reduce((sum, fault) => sum + fault.bites(), 0)
}
