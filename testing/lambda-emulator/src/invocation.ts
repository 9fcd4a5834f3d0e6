/** A function's failure as its caller sees it. */
export interface FunctionError {
  readonly errorType: string
  readonly errorMessage: string
  readonly trace?: readonly string[]
}

/** How one invocation ended. */
export type InvocationOutcome =
  /** `payload` is JSON. */
  | { readonly type: 'answered'; readonly payload: string; readonly report: InvocationReport }
  /** It threw, did not start, answered too much, or its process ended. */
  | { readonly type: 'failed'; readonly error: FunctionError; readonly report: InvocationReport }
  /** Killed at the deadline. */
  | { readonly type: 'timed-out'; readonly error: FunctionError; readonly report: InvocationReport }
  /** All environments that are allowed are busy: nothing was started. */
  | { readonly type: 'throttled' }

/** The lines that AWS would write to the log after an invocation. */
export interface InvocationReport {
  readonly functionName: string
  readonly requestId: string
  /** Environments are counted from 1 in each function. */
  readonly environment: number
  readonly pid: number
  readonly outcome: 'answered' | 'failed' | 'timed-out'
  /** The time from the start of the process to its first question for an event; undefined in a warm environment. */
  readonly initMs: number | undefined
  /** The time from the event to the answer. */
  readonly durationMs: number
  /** The most that its process has ever had in memory. */
  readonly rssBytesMax: number
  readonly endedAt: number
}
