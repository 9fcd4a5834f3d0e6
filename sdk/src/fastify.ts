import type { Barrier } from './barrier/barrier.ts'
import { asBranchError } from './branch/http-answer.ts'
import { answerBranch, type BranchHandler, type BranchHandlerOptions } from './http/answer-branch.ts'

/**
 * What is read of Fastify's request.
 *
 * @example
 * ```ts
 * const request: BranchFastifyRequest = fastifyRequest
 * ```
 */
export interface BranchFastifyRequest {
  readonly query: unknown
  readonly headers: Readonly<Record<string, unknown>>
  readonly body?: unknown
  readonly log: { error(details: object, message: string): void }
}

/**
 * What is used of Fastify's reply.
 *
 * @example
 * ```ts
 * const reply: BranchFastifyReply = fastifyReply
 * ```
 */
export interface BranchFastifyReply {
  code(statusCode: number): unknown
  headers(values: Record<string, string>): unknown
  send(payload?: unknown): unknown
}

/**
 * A Fastify 5 route handler that serves one branch behind a barrier: 200 with what `handler` returned, 409 for
 * `BranchFailure`, 425 for `BranchOngoing`. Everything else goes to `request.log` (or to `onError`) and is answered
 * 500 with a code and no more, so that it is asked again; it does not go through Fastify's error handler, which would
 * take the status of a foreign error that carries one, and 409 means something here.
 *
 * One handler may serve several ops: see `branch.op`. Throws a TypeError at construction for an async handler behind
 * the SQLite barrier.
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
export function branchHandler<Tx, Effect, Payload>(
  barrier: Barrier<Tx, Effect>,
  handler: BranchHandler<Tx, Payload, Effect>,
  { parse, onError }: BranchHandlerOptions<Payload> = {},
): (request: BranchFastifyRequest, reply: BranchFastifyReply) => Promise<unknown> {
  barrier.assertHandler?.(handler)
  return async function branchHandler(request, reply) {
    const { query, headers, body, log } = request
    const { answer, error, branch } = await answerBranch(
      barrier,
      handler,
      { query, headers, payload: body },
      parse,
    )
    if (error !== undefined) {
      if (onError !== undefined) tell(() => onError(error, branch))
      else
        log.error({ err: error, gid: branch?.gid, branchId: branch?.branchId, op: branch?.op }, 'branch call')
    }
    reply.code(answer.statusCode)
    reply.headers({ ...answer.headers })
    return reply.send(answer.body)
  }
}

/** Fastify would take a status out of what it throws; this one is 500. */
function tell(hear: () => void): void {
  try {
    hear()
  } catch (error: unknown) {
    throw asBranchError(error)
  }
}
