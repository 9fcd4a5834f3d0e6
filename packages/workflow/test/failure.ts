import type { PlanFailure } from '@counterstep/protocol'

/** A business failure, as the SDK's BranchFailure is one. */
export class Failure extends Error {
  readonly failed: PlanFailure

  constructor(failed: PlanFailure | string) {
    super(typeof failed === 'string' ? failed : failed.message)
    this.failed = typeof failed === 'string' ? { code: failed, message: failed } : failed
  }
}

export function readFailure(error: unknown): PlanFailure | undefined {
  return error instanceof Failure ? error.failed : undefined
}
