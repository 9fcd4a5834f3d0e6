import type { Fault, Problem } from '@counterstep/protocol'
import { API_URL } from './api-url.ts'
import { writeAttendance } from './attendance.ts'
import { learnServerTime } from './clock.ts'
import { writeSessionSecret } from './session-secret.ts'

/** An answer that refuses, in the server's own words, or no answer at all (`status` 0). */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  readonly code: string
  readonly faults: readonly Fault[]
  readonly requestId: string | undefined

  constructor(status: number, problem: Partial<Problem>, requestId: string | undefined) {
    super(problem.detail ?? problem.title ?? `The server answered ${status}.`)
    this.status = status
    this.code = problem.code ?? (status === 0 ? 'UNREACHABLE' : `HTTP ${status}`)
    this.faults = problem.faults ?? []
    this.requestId = requestId
  }

  /** The server does not have this route: it is older, or its operator has switched the part off. */
  get isMissingRoute(): boolean {
    return (
      (this.status === 404 && this.code !== 'SAGA_UNKNOWN_GID') || this.status === 405 || this.status === 501
    )
  }
}

export interface Call {
  readonly method?: 'GET' | 'POST' | 'DELETE'
  readonly body?: unknown
  readonly signal?: AbortSignal
}

/** Calls a route below `/v1/`. The answer's type is the one that the protocol names for the route. */
export async function callApi<Answer>(path: string, call: Call = {}): Promise<Answer> {
  const response = await send(path, call)
  learnServerTime(response.headers)
  const text = await response.text()
  if (!response.ok) {
    const requestId = response.headers.get('counterstep-request-id') ?? undefined
    throw new ApiError(response.status, readProblem(text), requestId)
  }
  return (text === '' ? undefined : JSON.parse(text)) as Answer
}

async function send(path: string, { method = 'GET', body, signal }: Call): Promise<Response> {
  const type = body === undefined ? {} : { 'content-type': 'application/json' }
  try {
    return await fetch(new URL(path, API_URL), {
      method,
      headers: { accept: 'application/json', ...writeSessionSecret(), ...writeAttendance(), ...type },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    })
  } catch (error: unknown) {
    if (signal?.aborted === true) throw error
    throw new ApiError(0, { detail: 'The server cannot be reached.' }, undefined)
  }
}

function readProblem(text: string): Partial<Problem> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Partial<Problem>) : {}
  } catch {
    // A proxy between may answer a page of its own.
    return {}
  }
}
