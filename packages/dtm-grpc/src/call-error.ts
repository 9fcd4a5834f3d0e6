import { buildStatus, type CallStatus, CODES } from './to-status.ts'

/** A call cannot go on, and ends with this status. */
export class CallError extends Error {
  readonly status: CallStatus

  constructor(status: CallStatus) {
    super(status.details)
    this.status = status
  }
}

/** The bytes are no message of the method. */
export class MalformedMessage extends CallError {
  constructor(reason: string) {
    super(buildStatus(CODES.INTERNAL, reason))
  }
}
