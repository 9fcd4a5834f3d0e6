/** The task of the load process. */
export interface LoadJob {
  /** If there are several, each gets its share of the connections. */
  readonly url: string | readonly string[]
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** A text in the body, in whose place each request has one that no other has. */
  readonly unique?: string
  readonly connections: number
  readonly length: LoadLength
  readonly expectStatus: number
  /** A text that every answer's body must hold. */
  readonly expect: string
}

/** The warm-up goes over the same connections as the measured part. */
export type LoadLength =
  | TimedLength
  | { readonly type: 'count'; readonly warmUpAnswers: number; readonly answers: number }

export interface TimedLength {
  readonly type: 'time'
  readonly warmUpSeconds: number
  readonly seconds: number
}

export interface LoadFaults {
  readonly connectionErrors: number
  readonly timeouts: number
  /** Answers with another status than the expected one. */
  readonly otherStatus: number
  /** Answers without the expected text. */
  readonly otherBody: number
}

export interface LatencyMs {
  readonly p50: number
  readonly p90: number
  readonly p99: number
  readonly max: number
  /** The curve runs from the fastest to the slowest answer; absent where a scenario keeps no durations. */
  readonly curve?: readonly CurvePoint[]
}

/** So many of all answers, 0 to 1, came within this time. */
export interface CurvePoint {
  readonly share: number
  readonly ms: number
}

export interface LoadResult {
  /** All of them: those of the warm-up, and those that came after the end of the measured time. */
  readonly answers: number
  readonly faults: LoadFaults
  /** The begin of the first answer without the expected text. */
  readonly unexpected: string | null
  /** Only what was answered in the measured part. */
  readonly answersPerSecond: number
  readonly latencyMs: LatencyMs
}

export function faultCount(faults: LoadFaults): number {
  return Object.values(faults).reduce((sum: number, count: number) => sum + count, 0)
}
