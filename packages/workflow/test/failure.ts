import type { Failed } from '@counterstep/workflow'

/** A business failure, as the SDK's BranchFailure is one. */
export class Failure extends Error {
  readonly failed: Failed

  constructor(failed: Failed | string) {
    super(typeof failed === 'string' ? failed : failed.message)
    this.failed = typeof failed === 'string' ? { code: failed, message: failed } : failed
  }
}

export function readFailure(error: unknown): Failed | undefined {
  return error instanceof Failure ? error.failed : undefined
}
