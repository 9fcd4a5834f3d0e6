// biome-ignore-all lint/performance/noBarrelFile: package.json names this file as an entry, which lists what it exports.

import type { JsonValue } from '@counterstep/protocol'
import type { Barrier } from './barrier/barrier.ts'
import type { MessageBarrier } from './barrier/message-barrier.ts'
import type { Branch } from './branch/branch.ts'
import { asBranchError } from './branch/http-answer.ts'
import type { BranchRequest } from './branch/parse-branch.ts'
import { callListener } from './call-listener.ts'
import type { BranchFastifyReply, BranchFastifyRequest } from './fastify-types.ts'
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

export type { BranchFastifyReply, BranchFastifyRequest } from './fastify-types.ts'
export { type SignedFastifyRequest, signedCalls } from './signatures/fastify-signed-calls.ts'
export type { SignedCallsOptions } from './signatures/signed-calls-options.ts'

const PARSER_ADVICE = 'give its content type a parser whose result is the body, by app.addContentTypeParser'

/**
 * A Fastify 5 route handler that serves one branch behind a barrier: 200 with what `handler` returned, 409 for
 * `BranchFailure`, 425 for `BranchOngoing`. Everything else goes to `request.log` (or to `onError`) and is answered 500
 * with only a code, so that the call is asked again. It does not go through Fastify's error handler, which would answer
 * with the status that a foreign error may carry, and a 409 has a meaning here. A call whose body nothing has parsed is
 * answered 500 `BRANCH_BODY_UNPARSED`.
 *
 * One handler may serve several ops: see `branch.op`; `ops` says which this route takes. Throws a TypeError at
 * construction for an async handler behind the SQLite barrier, and for `ops` that name none.
 *
 * @example
 * ```ts
 * import fastify from 'fastify'
 * import { createPool } from 'mysql2/promise'
 * import { branchHandler } from '@counterstep/sdk/fastify'
 * import { mysqlBarrier } from '@counterstep/sdk/barrier/mysql'
 *
 * const pool = createPool({ uri: 'mysql://bank@127.0.0.1/bank' })
 * const app = fastify({ logger: true })
 * app.post('/credit', branchHandler(mysqlBarrier(pool), async (tx, branch: Branch<{ id: string; cents: number }>) => {
 *   await tx.execute('UPDATE account SET cents = cents + ? WHERE id = ?', [branch.payload.cents, branch.payload.id])
 * }))
 * ```
 */
export function branchHandler<Tx, Effect, Payload, Original = JsonValue>(
  barrier: Barrier<Tx, Effect>,
  handler: BranchHandler<Tx, Payload, Effect, Original>,
  { onError, ...options }: BranchHandlerOptions<Payload> = {},
): (request: BranchFastifyRequest, reply: BranchFastifyReply) => Promise<unknown> {
  barrier.assertHandler?.(handler)
  assertOps(options.ops)
  return async function branchHandler(request, reply) {
    const answer = (call: BranchRequest) => answerBranch(barrier, handler, call, options)
    return respond(request, reply, await answerParsed(request, answer), onError)
  }
}

/**
 * A Fastify 5 route handler (GET) for the query-back of two-phase messages, ours and DTM's: 200 if the local transaction
 * has committed, 409 if it has not and never will, 425 while a lock is in the way. Everything else goes to `request.log`
 * (or to `onError`) and is answered 500, so that it is asked again.
 *
 * @example
 * ```ts
 * import fastify from 'fastify'
 * import { createPool } from 'mysql2/promise'
 * import { mysqlBarrier } from '@counterstep/sdk/barrier/mysql'
 * import { queryPreparedHandler } from '@counterstep/sdk/fastify'
 *
 * const barrier = mysqlBarrier(createPool({ uri: 'mysql://shop@127.0.0.1/shop' }))
 * const app = fastify({ logger: true })
 * app.get('/query-prepared', queryPreparedHandler(barrier))
 * ```
 */
export function queryPreparedHandler(
  barrier: Pick<MessageBarrier<never, never>, 'queryPrepared'>,
  { onError }: Pick<BranchHandlerOptions<never>, 'onError'> = {},
): (request: BranchFastifyRequest, reply: BranchFastifyReply) => Promise<unknown> {
  return async function queryPreparedHandler(request, reply) {
    const { originalUrl: url, headers } = request
    return respond(request, reply, await answerQueryBack(barrier, { url, headers }), onError)
  }
}

/**
 * A Fastify 5 route handler (POST) that serves workflows: it runs their functions, and runs and undoes their local steps. A
 * function that throws a `BranchFailure` turns its workflow around; anything else goes to `request.log` (or to `onError`) and
 * is answered 500, so that it is asked again.
 *
 * On Node a promise of the function that fails when its plan has been answered does not end the process: its error goes to
 * `request.log`, or to `onError`.
 *
 * List every version that still has workflows which have not ended. Throws a TypeError at construction for a list that is
 * empty or has one version twice.
 *
 * @example
 * ```ts
 * import fastify from 'fastify'
 * import { workflowHandler } from '@counterstep/sdk/fastify'
 *
 * const app = fastify({ logger: true })
 * app.post('/workflows', workflowHandler([order]))
 * await client.start(order, { gid, handler: 'shop:/workflows', input: { sku: 'cup' } })
 * ```
 */
export function workflowHandler(
  workflows: readonly Workflow<unknown, unknown>[],
  { onError }: Pick<BranchHandlerOptions<never>, 'onError'> = {},
): (request: BranchFastifyRequest, reply: BranchFastifyReply) => Promise<unknown> {
  assertWorkflows(workflows)
  return async function workflowHandler(request, reply) {
    const onLateError = (error: unknown, branch: Branch) => tell(request, error, branch, onError)
    const answer = (call: BranchRequest) => answerWorkflow(workflows, call, { onLateError })
    return respond(request, reply, await answerParsed(request, answer), onError)
  }
}

async function answerParsed(
  { originalUrl: url, headers, body: payload }: BranchFastifyRequest,
  answer: (call: BranchRequest) => Promise<AnsweredBranch>,
): Promise<AnsweredBranch> {
  // Fastify itself refuses a content type without a parser, but parsers of files leave a body to its route.
  if (payload === undefined && hasBody(headers)) return refuseUnparsedBody(PARSER_ADVICE)
  return answer({ url, headers, payload })
}

function respond(
  request: BranchFastifyRequest,
  reply: BranchFastifyReply,
  { answer, error, branch }: AnsweredBranch,
  onError: BranchHandlerOptions<never>['onError'],
): unknown {
  if (error !== undefined) tell(request, error, branch, onError)
  reply.code(answer.statusCode)
  reply.headers({ ...answer.headers })
  return reply.send(answer.body)
}

function tell(
  { log }: BranchFastifyRequest,
  error: unknown,
  branch: Branch | undefined,
  onError: BranchHandlerOptions<never>['onError'],
): void {
  if (onError !== undefined) report(() => void callListener(onError, error, branch))
  else log.error({ err: error, gid: branch?.gid, branchId: branch?.branchId, op: branch?.op }, 'branch call')
}

/**
 * Calls `onError`. If that throws, its error is turned into one with the status 500, because Fastify would otherwise
 * answer with a status that the error carries.
 */
function report(callOnError: () => void): void {
  try {
    callOnError()
  } catch (error: unknown) {
    throw asBranchError(error)
  }
}
