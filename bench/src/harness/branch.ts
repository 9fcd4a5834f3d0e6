import type { BranchCalls, BranchQuestion } from './branch-calls.ts'
import type { Child } from './child.ts'
import type { Harness, Service } from './harness.ts'
import { processPath } from './paths.ts'

const ASK_MS_MAX = 5_000

/** A service that answers every call at once, unless it is told to hold. */
export class Branch implements Service {
  readonly url: string
  readonly child: Child

  constructor(url: string, child: Child) {
    this.url = url
    this.child = child
  }

  /** How many calls it has answered. */
  async callCount(): Promise<number> {
    const { calls } = await this.calls()
    return calls
  }

  calls(): Promise<BranchCalls> {
    return this.#ask({ type: 'count', thenForget: false })
  }

  /** The next count starts from zero. */
  forget(): Promise<BranchCalls> {
    return this.#ask({ type: 'count', thenForget: true })
  }

  /** Calls get no answer until the release. */
  hold(): Promise<BranchCalls> {
    return this.#ask({ type: 'hold' })
  }

  /** Answers what is held and what comes. */
  release(): Promise<BranchCalls> {
    return this.#ask({ type: 'release' })
  }

  async #ask(question: BranchQuestion): Promise<BranchCalls> {
    // Both ends are of one checkout.
    return (await this.child.ask(question, ASK_MS_MAX)) as BranchCalls
  }
}

/** A service that does the same over gRPC; its URL names the host and the port. It does not hold. */
export async function startGrpcBranch(harness: Harness): Promise<Branch> {
  const child = harness.start({ name: 'branch over gRPC', script: processPath('grpc-branch') })
  return new Branch(await child.url(), child)
}

export async function startBranch(harness: Harness): Promise<Branch> {
  const child = harness.start({ name: 'branch', script: processPath('branch') })
  return new Branch(await child.url(), child)
}
