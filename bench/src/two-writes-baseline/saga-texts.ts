import { DEFAULT_SETTINGS } from '@counterstep/engine'

export interface RelayedBranch {
  readonly id?: string
  readonly action: string
  readonly compensation: string
  readonly payload: unknown
}

/** Writes a definition as the orchestrator does: as long, and with the same words. */
export function definitionText(branches: readonly RelayedBranch[]): string {
  const { retry, branchTimeoutMs: timeoutMs, checkpointMs } = DEFAULT_SETTINGS
  const written = branches.map(({ action, compensation, payload, ...named }, position) => ({
    id: toBranchId(named, position),
    body: JSON.stringify(payload),
    contentType: 'application/json',
    headers: {},
    action,
    compensation,
    after: position === 0 ? [] : [position - 1],
  }))
  return JSON.stringify({ kind: 'saga', branches: written, retry, timeoutMs, checkpointMs })
}

export function toBranchId({ id }: Pick<RelayedBranch, 'id'>, position: number): string {
  return id ?? String(position + 1).padStart(2, '0')
}

/** The record of one branch that was called once and has succeeded. */
export interface Called {
  readonly startedAt: number
  readonly endedAt: number
  readonly answer: string
}

/** Writes a finished row as the orchestrator does once all have succeeded. */
export function finishedText(calls: readonly Called[]): string {
  const branches = calls.map(({ startedAt, endedAt, answer }) => ({
    a: {
      state: 'succeeded',
      attempts: 1,
      startedAt,
      result: 'success',
      endedAt,
      durationMs: endedAt - startedAt,
      statusCode: 200,
      answer,
    },
  }))
  return JSON.stringify({ b: branches, finishedAt: calls.at(-1)?.endedAt })
}
