import { type JsonValue, mayBeHandedOn, NOT_HANDED_ON } from '@counterstep/protocol'
import type { BarrierDecision } from '@counterstep/protocol/barrier'
import type { Barrier } from '../barrier/barrier.ts'
import { BoundedParts, EMPTY_ANSWER, toAnswerText } from '../barrier/stored-answer.ts'
import { assertNotCompensated } from '../barrier/with-barrier.ts'
import type { BarrierCall } from '../branch/branch.ts'
import { BranchError } from '../branch/branch-errors.ts'
import { getTraceJoiner } from '../telemetry/trace-joiner.ts'
import type { AnyStep } from './step.ts'
import { mapResult, readStepRow, type StepRow } from './step-row.ts'

/** A step that is to run under a slot, which is the branch id of the call. */
export interface StepRun {
  readonly step: AnyStep
  /** That of the workflow. */
  readonly version: number
  readonly call: BarrierCall
  readonly input: JsonValue | undefined
}

/** The outcome of a step. The value is as it came out of JSON. */
export interface StepOutcome {
  readonly decision?: BarrierDecision
  readonly value?: JsonValue
}

/**
 * Runs a step behind the barrier, if there is one. A duplicate has the value of the first run. Throws the failure of the step,
 * ALREADY_COMPENSATED as a failure, and SLOT_TAKEN if another step has run under this slot.
 */
export async function runStep(
  barrier: Barrier<never> | undefined,
  { step, version, call, input }: StepRun,
): Promise<StepOutcome> {
  if (barrier === undefined) {
    const answer = toValueText(await step.do(undefined as never, input as never))
    return answer === EMPTY_ANSWER ? {} : { value: JSON.parse(answer) }
  }
  const outcome = await barrier.run(call, (tx) =>
    mapResult(step.do(tx, copyInput(input) as never), (value) => {
      // It is checked by itself, because as a part of the row a function would only be left out.
      toValueText(value)
      const given = input === undefined ? {} : { i: input }
      const done = value === undefined ? {} : { v: value as JsonValue }
      return new BoundedParts({ s: step.name, w: version, ...given, ...done } satisfies StepRow)
    }),
  )
  getTraceJoiner()?.noteDecision(call, outcome.decision)
  assertNotCompensated(outcome)
  const { decision, answer } = outcome
  const { s, v } = readStepRow(answer === undefined ? undefined : JSON.parse(answer), call.branchId)
  if (s === step.name) return v === undefined ? { decision } : { decision, value: v }
  const advice = 'deploy the code that ran it again, or abort the workflow'
  throw new BranchError('SLOT_TAKEN', `the step ${s} has run under the slot ${call.branchId}: ${advice}`)
}

/**
 * Writes the value of a step. It throws inside the database transaction for one that later calls to this handler could not bring,
 * because many frameworks refuse a body with such a key for ever: then the step could not be undone.
 */
function toValueText(value: unknown): string {
  const text = toAnswerText(value)
  if (text === EMPTY_ANSWER || mayBeHandedOn(text)) return text
  throw new BranchError('BRANCH_ANSWER_INVALID', `the value of the step ${NOT_HANDED_ON}`)
}

/**
 * Copies the input of a step. `do` may take its input apart, and may run again after a deadlock: each run gets what the first one
 * got, and so does `undo`, since the row has the input as it came. Throws for an input that no row can keep.
 */
function copyInput(input: JsonValue | undefined): JsonValue | undefined {
  const text = toAnswerText(input)
  return text === EMPTY_ANSWER ? undefined : JSON.parse(text)
}

/**
 * Undoes the step that has run under a slot, with the name, the version, the input and the value of its row. Where no row
 * stands nothing has run, and from now on nothing can.
 */
export async function undoRow(
  barrier: Barrier<never>,
  call: BarrierCall,
  findStep: (name: string, version: number | undefined) => AnyStep,
): Promise<BarrierDecision> {
  const { decision } = await barrier.run(call, (tx, original) => {
    const { s, w, i, v } = readStepRow(original, call.branchId)
    return mapResult(findStep(s, w).undo?.(tx, i as never, v as never), () => undefined)
  })
  getTraceJoiner()?.noteDecision(call, decision)
  return decision
}
