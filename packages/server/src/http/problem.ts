import type { CounterstepError, ErrorCode, Fault, InvalidRequestError, Problem } from '@counterstep/protocol'
import { STATUS_OF_CODE } from './status-of-code.ts'
import { toStatusText } from './status-text.ts'

export const PROBLEM_TYPE = 'application/problem+json; charset=utf-8'

/** Holds the parts of a problem beside its code. `status` is only for refusals of HTTP itself, which share a code. */
export interface ProblemParts {
  readonly detail: string
  readonly status?: number
  readonly gid?: string
  readonly faults?: readonly Fault[]
}

export function buildProblem(code: ErrorCode, parts: ProblemParts): Problem {
  const status = parts.status ?? STATUS_OF_CODE[code]
  const firstFault = parts.faults?.[0]
  return {
    type: `urn:counterstep:error:${code}`,
    title: toStatusText(status),
    status,
    detail: parts.detail,
    code,
    ...(parts.gid === undefined ? {} : { gid: parts.gid }),
    ...(firstFault === undefined ? {} : { path: firstFault.path }),
    ...(parts.faults === undefined ? {} : { faults: parts.faults }),
  }
}

/**
 * Converts an error. It checks fields instead of classes, since another copy of the protocol package may have made it.
 */
export function toProblem(error: CounterstepError): Problem {
  return buildProblem(error.code, {
    detail: error.message,
    ...('gid' in error && typeof error.gid === 'string' ? { gid: error.gid } : {}),
    ...(hasFaults(error) ? { faults: error.faults } : {}),
  })
}

function hasFaults(error: CounterstepError): error is InvalidRequestError {
  return 'faults' in error && Array.isArray(error.faults)
}
