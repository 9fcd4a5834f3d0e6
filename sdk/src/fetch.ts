// biome-ignore-all lint/performance/noBarrelFile: package.json names this file as an entry, which lists what it exports.

import { BODY_BYTES_MAX, type JsonValue } from '@counterstep/protocol'
import type { Barrier } from './barrier/barrier.ts'
import type { MessageBarrier } from './barrier/message-barrier.ts'
import { BranchError, isBranchError } from './branch/branch-errors.ts'
import { asBranchError, type HttpAnswer, toErrorAnswer } from './branch/http-answer.ts'
import type { BranchRequest } from './branch/parse-branch.ts'
import { callListener } from './call-listener.ts'
import { CollectedBytes } from './collected-bytes.ts'
import {
  type AnsweredBranch,
  answerBranch,
  type BranchHandler,
  type BranchHandlerOptions,
} from './http/answer-branch.ts'
import { answerQueryBack } from './http/answer-query-back.ts'
import { parseBody } from './http/parse-body.ts'
import { assertOps } from './http/served-ops.ts'
import { toArrivedCall } from './signatures/arrived-call.ts'
import { callVerifier } from './signatures/call-verifier.ts'
import { toRefusalAnswer } from './signatures/signature-refusal.ts'
import type { SignedCallsOptions } from './signatures/signed-calls-options.ts'
import { answerWorkflow } from './workflow/answer-workflow.ts'
import { assertWorkflows, type Workflow } from './workflow/workflow.ts'

export type { SignedCallsOptions } from './signatures/signed-calls-options.ts'

/**
 * These are the options of a `fetchHandler`.
 *
 * @example
 * ```ts
 * const options: FetchHandlerOptions<Payment> = {
 *   signedCalls: { keys: [process.env.COUNTERSTEP_KEY ?? ''], baseUrl: 'https://bank.example' },
 *   onError: (error) => console.error(error),
 * }
 * ```
 */
export interface FetchHandlerOptions<Payload> extends BranchHandlerOptions<Payload> {
  /**
   * Runs only calls that an orchestrator signed with one of the keys (RFC 9421). Other calls are answered 401. The
   * handler checks the signature itself, because a body can be read only once, so no middleware before it could. Leave
   * it out to run every call: `undefined` is refused, because it may be a mistake.
   */
  readonly signedCalls?: SignedCallsOptions
}

/**
 * A function from a web `Request` to its `Response` that serves one branch behind a barrier, for Hono, Next, Bun,
 * Deno and Lambda function URLs: 200 with what `handler` returned, 409 for `BranchFailure`, 425 for `BranchOngoing`.
 *
 * Everything else goes to `onError` and is answered 500 (400, 422) with a code; without `onError` it is thrown on to
 * the framework as a `BranchError` with that `status`, so that it is seen. The handler reads the body itself, up to 1
 * MiB: JSON becomes the payload, every other content type a `Buffer`. Nothing before it may have read the body.
 *
 * One handler may serve several ops: see `branch.op`; `ops` says which this route takes. Throws a TypeError at
 * construction for an async handler behind the SQLite barrier, for `ops` that name none, and for bad `signedCalls`.
 *
 * @example
 * ```ts
 * import { Hono } from 'hono'
 * import { Pool } from 'pg'
 * import { fetchHandler } from '@counterstep/sdk/fetch'
 * import { postgresBarrier } from '@counterstep/sdk/barrier/postgres'
 *
 * const barrier = postgresBarrier(new Pool({ database: 'bank' }))
 * const credit = fetchHandler(barrier, async (tx, branch: Branch<{ id: string; cents: number }>) => {
 *   await tx.query('UPDATE account SET cents = cents + $1 WHERE id = $2', [branch.payload.cents, branch.payload.id])
 * })
 * const app = new Hono()
 * app.post('/credit', (context) => credit(context.req.raw))
 * ```
 */
export function fetchHandler<Tx, Effect, Payload, Original = JsonValue>(
  barrier: Barrier<Tx, Effect>,
  handler: BranchHandler<Tx, Payload, Effect, Original>,
  options: FetchHandlerOptions<Payload> = {},
): (request: Request) => Promise<Response> {
  barrier.assertHandler?.(handler)
  assertOps(options.ops)
  const { onError: _onError, signedCalls: _signedCalls, ...rest } = options
  return serve(options, (request, bytes) => {
    return answerBranch(barrier, handler, toBranchRequest(request, bytes), rest)
  })
}

/**
 * A function from a web `Request` (GET) to its `Response` for the query-back of two-phase messages, ours and DTM's:
 * 200 if the local transaction has committed, 409 if it has not and never will, 425 while a lock is in the way.
 * Everything else goes to `onError`, or is thrown on, as in `fetchHandler`.
 *
 * @example
 * ```ts
 * import { Hono } from 'hono'
 * import { Pool } from 'pg'
 * import { postgresBarrier } from '@counterstep/sdk/barrier/postgres'
 * import { queryPreparedHandler } from '@counterstep/sdk/fetch'
 *
 * const answer = queryPreparedHandler(postgresBarrier(new Pool({ database: 'shop' })))
 * const app = new Hono()
 * app.get('/query-prepared', (context) => answer(context.req.raw))
 * ```
 */
export function queryPreparedHandler(
  barrier: Pick<MessageBarrier<never, never>, 'queryPrepared'>,
  options: Pick<FetchHandlerOptions<never>, 'onError' | 'signedCalls'> = {},
): (request: Request) => Promise<Response> {
  return serve(options, ({ url, headers }) => answerQueryBack(barrier, { url, headers }))
}

/**
 * A function from a web `Request` (POST) to its `Response` that serves workflows: it runs their functions, and runs and undoes
 * their local steps. A function that throws a `BranchFailure` turns its workflow around; anything else goes to `onError`, or is
 * thrown on, as in `fetchHandler`, and is asked again.
 *
 * On Node a promise of the function that fails when its plan has been answered does not end the process: its error goes to
 * `onError`, or is warned of.
 *
 * List every version that still has workflows which have not ended. Throws a TypeError at construction for a list that is
 * empty or has one version twice, and for bad `signedCalls`.
 *
 * @example
 * ```ts
 * import { Hono } from 'hono'
 * import { workflowHandler } from '@counterstep/sdk/fetch'
 *
 * const answer = workflowHandler([order])
 * const app = new Hono()
 * app.post('/workflows', (context) => answer(context.req.raw))
 * await client.start(order, { gid, handler: 'shop:/workflows', input: { sku: 'cup' } })
 * ```
 */
export function workflowHandler(
  workflows: readonly Workflow<unknown, unknown>[],
  options: Pick<FetchHandlerOptions<never>, 'onError' | 'signedCalls'> = {},
): (request: Request) => Promise<Response> {
  assertWorkflows(workflows)
  const { onError } = options
  const late = onError === undefined ? {} : { onLateError: onError }
  return serve(options, (request, bytes) => answerWorkflow(workflows, toBranchRequest(request, bytes), late))
}

function toBranchRequest({ url, headers }: Request, bytes: Buffer): BranchRequest {
  return {
    url,
    headers,
    payload: bytes.length === 0 ? undefined : parseBody(headers.get('content-type'), bytes),
  }
}

function serve(
  options: Pick<FetchHandlerOptions<never>, 'onError' | 'signedCalls'>,
  answerCall: (request: Request, bytes: Buffer) => Promise<AnsweredBranch>,
): (request: Request) => Promise<Response> {
  const { onError, signedCalls } = options
  // A program that names the option means to check signatures, and `undefined` is then a mistake of it.
  if (signedCalls === undefined && 'signedCalls' in options)
    throw new TypeError('signedCalls is undefined: give its keys, or leave the option out to run every call')
  const verifier = signedCalls === undefined ? undefined : callVerifier(signedCalls)
  return async function serveCall(request) {
    let answered: AnsweredBranch
    try {
      // The head is checked before a byte of the body is read.
      const checkBody = verifier?.check(toArrivedCall(request))
      const bytes = await readBytes(request)
      checkBody?.(bytes)
      answered = await answerCall(request, bytes)
    } catch (error: unknown) {
      if (isRefusal(error)) {
        void callListener(signedCalls?.onRefused, error)
        return toResponse(toRefusalAnswer(error))
      }
      answered = { answer: toErrorAnswer(error), error }
    }
    const { answer, error, branch } = answered
    if (error === undefined) return toResponse(answer)
    if (onError !== undefined) report(() => void callListener(onError, error, branch))
    // An error from other code may carry a status that has a meaning here. A plan that is refused is answered all the same.
    else if (answer.statusCode !== 200) throw asBranchError(error)
    return toResponse(answer)
  }
}

function isRefusal(error: unknown): error is BranchError {
  return isBranchError(error) && (error.status === 401 || error.status === 503)
}

function report(callOnError: () => void): void {
  try {
    callOnError()
  } catch (error: unknown) {
    throw asBranchError(error)
  }
}

async function readBytes(request: Request): Promise<Buffer> {
  if (request.bodyUsed) {
    const message = 'the body was read before the handler: give it the request first, or a clone of it'
    throw new BranchError('BRANCH_BODY_NOT_RAW', message)
  }
  const bytes = new CollectedBytes(BODY_BYTES_MAX)
  const reader = request.body?.getReader()
  for (;;) {
    const part = await reader?.read()
    if (part === undefined || part.done) break
    if (!bytes.add(part.value)) {
      // The rest of the body is not read. If cancelling it fails, the outcome does not change.
      void reader?.cancel().catch(() => undefined)
      throw new BranchError('BRANCH_CALL_INVALID', `the body is longer than ${BODY_BYTES_MAX} bytes`)
    }
  }
  const { buffer, byteOffset, byteLength } = bytes.bytesSoFar()
  return Buffer.from(buffer, byteOffset, byteLength)
}

function toResponse({
  statusCode,
  headers,
  body = null,
}: Omit<HttpAnswer, 'body'> & { readonly body?: string | null }): Response {
  return new Response(body, { status: statusCode, headers: { ...headers } })
}
