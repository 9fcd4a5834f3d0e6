// biome-ignore-all lint/performance/noBarrelFile: package.json names this file as an entry, which lists what it exports.

import type { JsonValue } from '@counterstep/protocol'
import type { Barrier } from './barrier/barrier.ts'
import type { MessageBarrier } from './barrier/message-barrier.ts'
import { asBranchError } from './branch/http-answer.ts'
import type { BranchRequest } from './branch/parse-branch.ts'
import { callListener } from './call-listener.ts'
import type { BranchExpressRequest, BranchExpressResponse } from './express-types.ts'
import {
  type AnsweredBranch,
  answerBranch,
  type BranchHandler,
  type BranchHandlerOptions,
} from './http/answer-branch.ts'
import { answerQueryBack } from './http/answer-query-back.ts'
import { hasBody } from './http/has-body.ts'
import { assertOps } from './http/served-ops.ts'
import { refuseUnparsedBody } from './http/unparsed-body.ts'
import { answerWorkflow } from './workflow/answer-workflow.ts'
import { assertWorkflows, type Workflow } from './workflow/workflow.ts'

export type { BranchExpressRequest, BranchExpressResponse } from './express-types.ts'
export { type SignedExpressRequest, signedCalls } from './signatures/express-signed-calls.ts'
export type { SignedCallsOptions } from './signatures/signed-calls-options.ts'

const PARSER_ADVICE = "put app.use(express.json({ limit: '1mb', strict: false })) before the handler"

/**
 * A route handler for Express 4 and 5 that serves one branch behind a barrier: 200 with what `handler` returned, 409
 * for `BranchFailure`, 425 for `BranchOngoing`. Put `express.json({ limit: '1mb', strict: false })` before it: by
 * default `express.json` refuses payloads over 100 KiB, and payloads that are neither an object nor an array. A call
 * whose body nothing has parsed is answered 500 `BRANCH_BODY_UNPARSED`.
 *
 * Everything else goes to `next` as a `BranchError` with status 500 (400, 422) and the thrown error as its `cause`.
 * Express would otherwise answer with the status that a foreign error may carry, and a 409 has a meaning here. If
 * `onError` is given, the error goes there instead, and the answer is JSON with only a code. Without `onError`, your
 * error middleware must keep the error's `status`. Express's own error middleware shows a stack trace unless NODE_ENV
 * is `production`.
 *
 * One handler may serve several ops: see `branch.op`; `ops` says which this route takes. Throws a TypeError at
 * construction for an async handler behind the SQLite barrier, and for `ops` that name none.
 *
 * @example
 * ```ts
 * import express from 'express'
 * import { Pool } from 'pg'
 * import { branchHandler } from '@counterstep/sdk/express'
 * import { postgresBarrier } from '@counterstep/sdk/barrier/postgres'
 *
 * const barrier = postgresBarrier(new Pool({ database: 'bank' }))
 * const app = express().use(express.json({ limit: '1mb', strict: false }))
 * app.post('/credit', branchHandler(barrier, async (tx, branch: Branch<{ id: string; cents: number }>) => {
 *   await tx.query('UPDATE account SET cents = cents + $1 WHERE id = $2', [branch.payload.cents, branch.payload.id])
 * }))
 * ```
 */
export function branchHandler<Tx, Effect, Payload, Original = JsonValue>(
  barrier: Barrier<Tx, Effect>,
  handler: BranchHandler<Tx, Payload, Effect, Original>,
  { onError, ...options }: BranchHandlerOptions<Payload> = {},
): (
  request: BranchExpressRequest,
  response: BranchExpressResponse,
  next: (error?: unknown) => void,
) => Promise<void> {
  barrier.assertHandler?.(handler)
  assertOps(options.ops)
  // Express 4 ignores the promise of a handler: every error has to go to `next`, and the promise must not reject.
  return async function branchHandler(request, response, next) {
    try {
      const answer = (call: BranchRequest) => answerBranch(barrier, handler, call, options)
      respond(response, next, await answerParsed(request, answer), onError)
    } catch (error: unknown) {
      next(asBranchError(error))
    }
  }
}

/**
 * A route handler (GET) for Express 4 and 5 for the query-back of two-phase messages, ours and DTM's: 200 if the local
 * transaction has committed, 409 if it has not and never will, 425 while a lock is in the way. Everything else goes to
 * `next` (or to `onError`) as a `BranchError` with status 500, so that it is asked again.
 *
 * @example
 * ```ts
 * import express from 'express'
 * import { Pool } from 'pg'
 * import { postgresBarrier } from '@counterstep/sdk/barrier/postgres'
 * import { queryPreparedHandler } from '@counterstep/sdk/express'
 *
 * const barrier = postgresBarrier(new Pool({ database: 'shop' }))
 * const app = express()
 * app.get('/query-prepared', queryPreparedHandler(barrier))
 * ```
 */
export function queryPreparedHandler(
  barrier: Pick<MessageBarrier<never, never>, 'queryPrepared'>,
  { onError }: Pick<BranchHandlerOptions<never>, 'onError'> = {},
): (
  request: BranchExpressRequest,
  response: BranchExpressResponse,
  next: (error?: unknown) => void,
) => Promise<void> {
  return async function queryPreparedHandler({ originalUrl: url, headers }, response, next) {
    try {
      respond(response, next, await answerQueryBack(barrier, { url, headers }), onError)
    } catch (error: unknown) {
      next(asBranchError(error))
    }
  }
}

/**
 * A route handler (POST) for Express 4 and 5 that serves workflows: it runs their functions, and runs and undoes their local
 * steps. Put `express.json({ limit: '1mb', strict: false })` before it. A function that throws a `BranchFailure` turns its
 * workflow around; anything else goes to `next` (or to `onError`) as a `BranchError`, and is answered 500, so that it is asked
 * again.
 *
 * On Node a promise of the function that fails when its plan has been answered does not end the process: its error goes to
 * `onError`, or is warned of.
 *
 * List every version that still has workflows which have not ended. Throws a TypeError at construction for a list that is
 * empty or has one version twice.
 *
 * @example
 * ```ts
 * import express from 'express'
 * import { workflowHandler } from '@counterstep/sdk/express'
 *
 * const app = express().use(express.json({ limit: '1mb', strict: false }))
 * app.post('/workflows', workflowHandler([order]))
 * await client.start(order, { gid, handler: 'shop:/workflows', input: { sku: 'cup' } })
 * ```
 */
export function workflowHandler(
  workflows: readonly Workflow<unknown, unknown>[],
  { onError }: Pick<BranchHandlerOptions<never>, 'onError'> = {},
): (
  request: BranchExpressRequest,
  response: BranchExpressResponse,
  next: (error?: unknown) => void,
) => Promise<void> {
  assertWorkflows(workflows)
  const late = onError === undefined ? {} : { onLateError: onError }
  return async function workflowHandler(request, response, next) {
    try {
      const answer = (call: BranchRequest) => answerWorkflow(workflows, call, late)
      respond(response, next, await answerParsed(request, answer), onError)
    } catch (error: unknown) {
      next(asBranchError(error))
    }
  }
}

async function answerParsed(
  request: BranchExpressRequest,
  answer: (call: BranchRequest) => Promise<AnsweredBranch>,
): Promise<AnsweredBranch> {
  if (isUnparsed(request)) return refuseUnparsedBody(PARSER_ADVICE)
  const { originalUrl: url, headers } = request
  // Express 4 makes an empty object of a missing body, which would pass for a payload.
  return answer({ url, headers, payload: hasBody(headers) ? request.body : undefined })
}

/**
 * The body is unparsed if no parser stands before this handler, or if the parser ignores the content type of the call.
 * The parsers of Express 4 then leave an empty object, and the stream as it was.
 */
function isUnparsed({ headers, body, readableDidRead, readableEnded }: BranchExpressRequest): boolean {
  if (!hasBody(headers)) return false
  const isUnread = readableDidRead === false && readableEnded === false
  return body === undefined || (isUnread && isEmptyObject(body))
}

function isEmptyObject(body: unknown): boolean {
  return typeof body === 'object' && body !== null && Object.keys(body).length === 0
}

function respond(
  response: BranchExpressResponse,
  next: (error?: unknown) => void,
  { answer, error, branch }: AnsweredBranch,
  onError: BranchHandlerOptions<never>['onError'],
): void {
  // A plan that is refused is answered all the same.
  if (error !== undefined && onError === undefined && answer.statusCode !== 200) {
    next(asBranchError(error))
    return
  }
  if (error !== undefined) void callListener(onError, error, branch)
  response.status(answer.statusCode)
  response.set({ ...answer.headers })
  response.end(answer.body)
}
