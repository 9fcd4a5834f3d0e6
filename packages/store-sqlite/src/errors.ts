import type { ErrorCode } from '@counterstep/protocol'

// Thrown in the worker only; what callers see is made on the main thread from the messages.

/** The file will not be opened: in use, too new, or on a disk that cannot be trusted. */
export class RefusedError extends Error {
  readonly code: ErrorCode

  constructor(code: ErrorCode, message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'RefusedError'
    this.code = code
  }
}

/** Nothing more can be said of the file: the process must exit, and the log decides at the next open. */
export class BrokenError extends Error {
  constructor(doing: string, cause: unknown) {
    super(`${doing}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
    this.name = 'BrokenError'
  }
}
