import type { BarrierDecision } from '@counterstep/protocol/barrier'
import type { BarrierCall } from '../branch/branch.ts'

/** Joins what this SDK does to the traces of the process. `joinTraces` gives one; without it nothing is done. */
export interface TraceJoiner {
  /** Does the work of a call that arrived with these headers, within the trace that they name. */
  within<Result>(
    headers: Headers | Readonly<Record<string, unknown>>,
    work: () => Promise<Result>,
  ): Promise<Result>
  /** Notes on the span of the service what the barrier has decided. */
  noteDecision(call: BarrierCall, decision: BarrierDecision): void
  /** Returns the headers by which the receiver of a request goes on in the trace. */
  buildHeaders(): Readonly<Record<string, string>>
}

let joiner: TraceJoiner | undefined

export function setTraceJoiner(given: TraceJoiner | undefined): void {
  joiner = given
}

export function getTraceJoiner(): TraceJoiner | undefined {
  return joiner
}

export function withinTrace<Result>(
  headers: Headers | Readonly<Record<string, unknown>>,
  work: () => Promise<Result>,
): Promise<Result> {
  return joiner === undefined ? work() : joiner.within(headers, work)
}
