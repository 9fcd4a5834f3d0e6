import type { LoadJob } from '../load/load-job.ts'
import { toTimedLength } from '../load/to-timed-length.ts'
import type { Settings } from '../settings.ts'
import type { Move, Transfer } from './move.ts'
import { BRANCH_PATH, HANDLER_PATH, WORKFLOW } from './serve-moves.ts'

const TRANSFER = 'TRANSFER'
const WAIT_SECONDS = 30
/** So many local steps may run within one plan call, as the SDK asks for by default. */
const GRANTS = 8

/** A saga with a branch for each step; each caller waits for its end. */
export function sagaJob(serverUrl: string, servicesUrl: string, settings: Settings): LoadJob {
  const url = `${servicesUrl}${BRANCH_PATH}`
  const payloads = Array.from({ length: settings.branches }, (_, index): Move => {
    return { transfer: TRANSFER, number: index + 1 }
  })
  const branches = payloads.map((payload) => ({ action: url, compensation: url, payload }))
  return submitJob(serverUrl, { branches }, settings)
}

/** A workflow with the same steps, as `client.start` submits it; each caller waits for its end. */
export function workflowJob(serverUrl: string, servicesUrl: string, settings: Settings): LoadJob {
  const request = {
    kind: 'workflow',
    workflow: WORKFLOW.name,
    version: WORKFLOW.version,
    handler: `${servicesUrl}${HANDLER_PATH}`,
    grants: GRANTS,
    input: toInput(settings),
  }
  return submitJob(serverUrl, request, settings)
}

function submitJob(serverUrl: string, request: object, settings: Settings): LoadJob {
  return {
    ...transferJob(`${serverUrl}/v1/transactions`, request, settings),
    headers: { 'content-type': 'application/json', prefer: `wait=${WAIT_SECONDS}` },
    // A branch's op has a state, so this can only be the transaction's own.
    expect: '"status":"succeeded"',
  }
}

/** A request of another system, which answers how many steps it has made. */
export function peerJob(url: string, settings: Settings): LoadJob {
  const job = transferJob(url, toInput(settings), settings)
  return { ...job, expect: JSON.stringify(toAnswer(settings.branches)) }
}

/** The answer of another system's function. */
export function toAnswer(steps: number): { readonly moved: number } {
  return { moved: steps }
}

function toInput({ branches }: Settings): Transfer {
  return { transfer: TRANSFER, steps: branches }
}

function transferJob(url: string, body: object, settings: Settings): Omit<LoadJob, 'expect'> {
  return {
    url,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    unique: TRANSFER,
    connections: settings.connections,
    length: toTimedLength(settings),
    expectStatus: 200,
  }
}
