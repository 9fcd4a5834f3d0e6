import { isBranchId, type JsonValue, type StepCallBody } from '@counterstep/protocol'
import { BranchError } from '../branch/branch-errors.ts'

/** The parts of a call of a local step that the handler uses. Where the barrier's row names the step, the call may leave it out. */
export type CalledStep = Pick<StepCallBody, 'workflow' | 'input' | 'value'> &
  Partial<Pick<StepCallBody, 'version' | 'step'>>

/** Reads the body of a call of a local step. Throws WORKFLOW_CALL_INVALID. */
export function parseStepCall(payload: unknown): CalledStep {
  if (typeof payload !== 'object' || payload === null || Array.isArray(payload))
    throw toCallError('', 'is no object')
  const { v, workflow, version, step, input, value } = payload as Readonly<Record<string, unknown>>
  if (v !== 1) throw toCallError('/v', 'is a version of the call that is not served here: only 1 is')
  if (typeof workflow !== 'string' || !isBranchId(workflow)) throw toCallError('/workflow', 'is no name')
  if (version !== undefined && !(Number.isSafeInteger(version) && Number(version) >= 1))
    throw toCallError('/version', 'is no version, which is 1, 2, 3, …')
  if (step !== undefined && typeof step !== 'string') throw toCallError('/step', 'is no name')
  return {
    workflow,
    ...(version === undefined ? {} : { version: Number(version) }),
    ...(step === undefined ? {} : { step }),
    // The body came out of JSON.
    ...(input === undefined ? {} : { input: input as JsonValue }),
    ...(value === undefined ? {} : { value: value as JsonValue }),
  }
}

export function toCallError(path: string, message: string): BranchError {
  const place = path === '' ? 'the body' : path
  return new BranchError(
    'WORKFLOW_CALL_INVALID',
    `${place} ${message}: only an orchestrator calls this route`,
  )
}
