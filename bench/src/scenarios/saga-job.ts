import type { LoadJob, LoadLength, TimedLength } from '../load/load-job.ts'
import type { Settings } from '../settings.ts'
import { PAYLOAD } from './payload.ts'

const WAIT_SECONDS = 30

export interface SagaShape {
  readonly branchUrl: string
  readonly branches: number
  /** From accept to the first call. */
  readonly delayMs?: number
  /** Of one branch call. */
  readonly timeoutMs?: number
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

/** Each caller waits until its saga is durable, and no longer. */
export function submitJob(
  serverUrl: string,
  shape: SagaShape,
  connections: number,
  length: LoadLength,
): LoadJob {
  return {
    url: `${serverUrl}/v1/transactions`,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(bodyOf(shape)),
    expectStatus: 202,
    expect: '"ack":"durable"',
    connections,
    length,
  }
}

export function timed({ warmUpSeconds, seconds }: Settings): TimedLength {
  return { type: 'time', warmUpSeconds, seconds }
}

function bodyOf({ branchUrl, branches, ...more }: SagaShape): object {
  return {
    ...more,
    branches: Array.from({ length: branches }, (_, index) => ({
      action: `${branchUrl}/action-${index + 1}`,
      compensation: `${branchUrl}/compensation-${index + 1}`,
      payload: PAYLOAD,
    })),
  }
}
