import type { ErrorCode } from '@counterstep/protocol'

// These errors are thrown only in the worker. The main thread makes the callers' errors from the messages.

/** The file is not opened, because it is in use, too new, or on a disk that cannot be trusted. */
export class RefusedError extends Error {
  readonly code: ErrorCode

  constructor(code: ErrorCode, message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'RefusedError'
    this.code = code
  }
}

/** The state of the file is unknown. The process must exit, and the log decides at the next open. */
export class BrokenError extends Error {
  constructor(doing: string, cause: unknown) {
    super(`${doing}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
    this.name = 'BrokenError'
  }
}
