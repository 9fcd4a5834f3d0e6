import type { PlanFailure } from '@counterstep/protocol'
import { BranchFailure, isBranchFailure } from './branch-errors.ts'

/** Makes the error that a workflow's function gets for a failure, its own or that of a service. */
export function createFailure({ code, message, details }: PlanFailure): BranchFailure {
  return new BranchFailure(message, { code, ...(details === undefined ? {} : { details }) })
}

/** Reads what a failure says. Any other error is none, whatever it says. */
export function readFailure(error: BranchFailure): PlanFailure
export function readFailure(error: unknown): PlanFailure | undefined
export function readFailure(error: unknown): PlanFailure | undefined {
  if (!isBranchFailure(error)) return undefined
  const { code, message, details } = error
  return { code: String(code), message: String(message), ...(details === undefined ? {} : { details }) }
}
