import type { LoadJob, LoadLength } from '../load/load-job.ts'
import { PAYLOAD } from './payload.ts'

const WAIT_SECONDS = 30

/** The words by which the transactions of a job are found. */
export interface SagaWords {
  readonly name?: string
  readonly tags?: Readonly<Record<string, string>>
}

export interface SagaShape {
  readonly branchUrl: string
  readonly branches: number
  /** The time from accept to the first call. */
  readonly delayMs?: number
  /** The time-out of one branch call. */
  readonly timeoutMs?: number
  /** All branches at once, and not one after the other. */
  readonly isParallel?: boolean
  /** No service is called: the URLs are empty. */
  readonly isEmpty?: boolean
  readonly ack?: 'memory'
  readonly gid?: string
  readonly words?: SagaWords
}

/** Each caller waits for the end of its saga. */
export function sagaJob(
  serverUrl: string,
  shape: SagaShape,
  connections: number,
  length: LoadLength,
): LoadJob {
  return {
    ...submitJob(serverUrl, shape, connections, length),
    headers: { 'content-type': 'application/json', prefer: `wait=${WAIT_SECONDS}` },
    expectStatus: 200,
    // A branch's op has a state, so this can only be the transaction's own.
    expect: '"status":"succeeded"',
  }
}

/** Each caller waits until its saga is accepted, durably or as `ack` says, and no longer. */
export function submitJob(
  serverUrl: string,
  shape: SagaShape,
  connections: number,
  length: LoadLength,
): LoadJob {
  return {
    url: `${serverUrl}/v1/transactions`,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(toSubmitBody(shape)),
    expectStatus: 202,
    expect: `"ack":"${shape.ack ?? 'durable'}"`,
    connections,
    length,
  }
}

export function toSubmitBody({
  branchUrl,
  branches,
  isParallel = false,
  isEmpty = false,
  words,
  ...more
}: SagaShape): object {
  const toUrl = (path: string) => (isEmpty ? '' : `${branchUrl}/${path}`)
  return {
    ...more,
    ...words,
    branches: Array.from({ length: branches }, (_, index) => ({
      action: toUrl(`action-${index + 1}`),
      compensation: toUrl(`compensation-${index + 1}`),
      payload: PAYLOAD,
      ...(isParallel ? { after: [] } : {}),
    })),
  }
}
