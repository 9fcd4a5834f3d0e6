/** Wraps what the engine does in the spans of the host's tracing, if it has any. */
import type { BranchAnswer, BranchCall, BranchCaller, UpdateResult } from '@counterstep/core'
import type { AcceptSpan, RunSpan } from './tracer.ts'

export async function traceAccept<Accepted>(
  span: AcceptSpan | undefined,
  accept: () => Promise<Accepted>,
): Promise<Accepted> {
  if (span === undefined) return accept()
  try {
    const accepted = await accept()
    span.end()
    return accepted
  } catch (error: unknown) {
    span.end(error)
    throw error
  }
}

/** The service is given the span of the call as the parent of its own. */
export async function traceCall(
  run: RunSpan | undefined,
  branches: BranchCaller,
  call: BranchCall,
): Promise<BranchAnswer> {
  if (run === undefined) return branches.call(call)
  const span = run.startCall(call)
  const { trace } = span
  let answer: BranchAnswer | undefined
  try {
    const traced = trace === undefined ? call : { ...call, span: trace }
    answer = await span.run(() => branches.call(traced))
    return answer
  } finally {
    span.end(answer)
  }
}

/** The result is undefined where the run has ended before the store gave a definite answer. */
export async function traceSave(
  run: RunSpan | undefined,
  save: () => Promise<UpdateResult | undefined>,
): Promise<UpdateResult | undefined> {
  if (run === undefined) return save()
  const span = run.startSave()
  let result: UpdateResult | undefined
  try {
    result = await save()
    return result
  } finally {
    span.end(result?.type ?? 'failed')
  }
}
