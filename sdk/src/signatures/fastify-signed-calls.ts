import { Readable } from 'node:stream'
import { isBranchError } from '../branch/branch-errors.ts'
import { asBranchError } from '../branch/http-answer.ts'
import { callListener } from '../call-listener.ts'
import type { BranchFastifyReply } from '../fastify-types.ts'
import { callVerifier } from './call-verifier.ts'
import { readRawValues, toOrigin } from './raw-headers.ts'
import { readBody } from './read-body.ts'
import { toRefusalAnswer } from './signature-refusal.ts'
import type { SignedCallsOptions } from './signed-calls-options.ts'

/**
 * The part of Fastify's request that `signedCalls` reads.
 *
 * @example
 * ```ts
 * const request: SignedFastifyRequest = fastifyRequest
 * ```
 */
export interface SignedFastifyRequest {
  readonly method: string
  readonly originalUrl: string
  /** Fastify sets this value. It is the proxy's protocol if `trustProxy` is set. */
  readonly protocol: string
  readonly host: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly raw: { readonly rawHeaders: readonly string[] }
  readonly log: { warn(details: object, message: string): void }
}

/**
 * A `preParsing` hook for Fastify 5: only calls that an orchestrator signed with one of the keys go on (RFC 9421). It
 * sees the bytes before anything parses them, and hands them on.
 *
 * A refused call is answered 401, as a problem with a code (`BRANCH_UNSIGNED`, `BRANCH_SIGNATURE_INVALID`, …), and is
 * reported to `request.log`, or to `onRefused`. For the orchestrator this answer is unknown, so it asks again. Add the
 * hook where the branches are, since everything in that scope needs a signature. The `try` of a TCC comes from its
 * client, which has no key. Throws a TypeError at construction for a bad key, and without `baseUrl` or `trustHost`.
 *
 * @example
 * ```ts
 * import fastify from 'fastify'
 * import { createPool } from 'mysql2/promise'
 * import { branchHandler, signedCalls } from '@counterstep/sdk/fastify'
 * import { mysqlBarrier } from '@counterstep/sdk/barrier/mysql'
 *
 * const pool = createPool({ uri: 'mysql://bank@127.0.0.1/bank' })
 * const app = fastify({ logger: true })
 * app.addHook('preParsing', signedCalls({ keys: [process.env.COUNTERSTEP_KEY ?? ''], baseUrl: 'https://bank.example' }))
 * app.post('/credit', branchHandler(mysqlBarrier(pool), async (tx, branch: Branch<{ id: string; cents: number }>) => {
 *   await tx.execute('UPDATE account SET cents = cents + ? WHERE id = ?', [branch.payload.cents, branch.payload.id])
 * }))
 * ```
 */
export function signedCalls(
  options: SignedCallsOptions,
): (
  request: SignedFastifyRequest,
  reply: BranchFastifyReply,
  payload: AsyncIterable<Uint8Array | string>,
) => Promise<unknown> {
  const verifier = callVerifier(options)
  return async function signedCalls(request, reply, payload) {
    try {
      const { method, originalUrl, headers } = request
      const checkBody = verifier.check({
        method,
        path: originalUrl,
        origin: () => toOrigin(request.protocol, request.host),
        values: (name) => readRawValues(request.raw.rawHeaders, name),
      })
      // The body is read whatever the headers say, because over HTTP/2 none needs to announce a body.
      const bytes = await readBody(payload, String(headers['content-length'] ?? 0))
      checkBody(bytes)
      return Readable.from([bytes], { objectMode: false })
    } catch (error: unknown) {
      if (!isBranchError(error)) throw asBranchError(error)
      if (options.onRefused === undefined) request.log.warn({ code: error.code }, 'branch call refused')
      else void callListener(options.onRefused, error)
      const { statusCode, headers, body } = toRefusalAnswer(error)
      reply.code(statusCode)
      reply.headers({ ...headers })
      reply.send(body)
      // This promise must not settle. If it settled while an `onSend` hook still waits, Fastify would believe that
      // nothing was answered yet, and would run the call although its caller has hung up.
      return new Promise(() => undefined)
    }
  }
}
