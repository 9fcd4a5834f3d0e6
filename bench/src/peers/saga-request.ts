import type { LoadJob } from '../load/load-job.ts'
import { toSubmitBody } from '../scenarios/saga-job.ts'
import type { EngineLoad } from './engine.ts'

/** The body of a request to a program that is written for this scenario. It is the same as that of a saga of ours. */
export interface SagaRequest {
  readonly gid: string
  readonly branches: readonly SagaBranch[]
}

export interface SagaBranch {
  readonly action: string
  readonly compensation: string
  readonly payload: unknown
}

/** The answer of such a program once all branches have succeeded. */
export const SUCCEEDED = { status: 'succeeded' } as const

/** Asks such a program for a saga, and waits for its end. */
export function sagaRequestJob(
  url: string,
  branchUrl: string,
  branches: number,
  { connections, length, unique }: EngineLoad,
): LoadJob {
  return {
    url,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(toSubmitBody({ branchUrl, branches, gid: unique })),
    unique,
    expectStatus: 200,
    expect: JSON.stringify(SUCCEEDED),
    connections,
    length,
  }
}
