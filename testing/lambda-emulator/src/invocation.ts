/** The caller of a function sees its failure in this form. */
export interface FunctionError {
  readonly errorType: string
  readonly errorMessage: string
  readonly trace?: readonly string[]
}

/** One invocation ended in one of these ways. */
export type InvocationOutcome =
  /** `payload` is JSON. */
  | { readonly type: 'answered'; readonly payload: string; readonly report: InvocationReport }
  /** The function threw, did not start or answered too much, or its process ended. */
  | { readonly type: 'failed'; readonly error: FunctionError; readonly report: InvocationReport }
  /** The function was killed at its deadline. */
  | { readonly type: 'timed-out'; readonly error: FunctionError; readonly report: InvocationReport }
  /** All environments that may exist are busy, so nothing was started. */
  | { readonly type: 'throttled' }

/** AWS would write these values to the log after an invocation. */
export interface InvocationReport {
  readonly functionName: string
  readonly requestId: string
  /** Environments are counted from 1 in each function. */
  readonly environment: number
  readonly pid: number
  readonly outcome: 'answered' | 'failed' | 'timed-out'
  /** It took this long from the start of the process to its first request for an event. It is undefined if it was warm. */
  readonly initMs: number | undefined
  /** It took this long from the event to the answer. */
  readonly durationMs: number
  /** The process never had more than this in memory. */
  readonly rssBytesMax: number
  readonly endedAt: number
}
