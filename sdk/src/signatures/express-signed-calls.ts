import { BranchError, isBranchError } from '../branch/branch-errors.ts'
import { asBranchError } from '../branch/http-answer.ts'
import { callListener } from '../call-listener.ts'
import type { BranchExpressResponse } from '../express-types.ts'
import { hasBody } from '../http/has-body.ts'
import { parseBody } from '../http/parse-body.ts'
import { type BodyCheck, callVerifier } from './call-verifier.ts'
import { readRawValues, toOrigin } from './raw-headers.ts'
import { readBody } from './read-body.ts'
import { toRefusalAnswer } from './signature-refusal.ts'
import type { SignedCallsOptions } from './signed-calls-options.ts'

/** From this HTTP version on no header needs to announce a body. */
const HTTP_2 = 2

/**
 * The part of Express's request that `signedCalls` reads, and the body that it leaves there.
 *
 * @example
 * ```ts
 * const request: SignedExpressRequest = expressRequest
 * ```
 */
export interface SignedExpressRequest extends AsyncIterable<Uint8Array | string> {
  readonly method: string
  readonly httpVersionMajor: number
  readonly originalUrl: string
  readonly protocol: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly rawHeaders: readonly string[]
  readonly readableDidRead: boolean
  body?: unknown
}

/**
 * A middleware for Express 4 and 5: only calls that an orchestrator signed with one of the keys go on (RFC 9421). Put it
 * before `express.json()`, which it makes unnecessary: it reads the body, checks its bytes, and leaves JSON parsed and
 * everything else as a Buffer in `request.body`. Behind a parser it needs the bytes in `request.rawBody`:
 * `express.json({ verify: (request, _response, bytes) => { request.rawBody = bytes } })`.
 *
 * A refused call is answered 401, as a problem with a code (`BRANCH_UNSIGNED`, `BRANCH_SIGNATURE_INVALID`, …). For the
 * orchestrator this answer is unknown, so it asks again. Mount the middleware where the branches are, since everything
 * behind it needs a signature. The `try` of a TCC comes from its client, which has no key. Throws a TypeError at
 * construction for a bad key, and without `baseUrl` or `trustHost`.
 *
 * @example
 * ```ts
 * import express from 'express'
 * import { Pool } from 'pg'
 * import { branchHandler, signedCalls } from '@counterstep/sdk/express'
 * import { postgresBarrier } from '@counterstep/sdk/barrier/postgres'
 *
 * const barrier = postgresBarrier(new Pool({ database: 'bank' }))
 * const app = express()
 * app.use(signedCalls({ keys: [process.env.COUNTERSTEP_KEY ?? ''], baseUrl: 'https://bank.example' }))
 * app.post('/credit', branchHandler(barrier, async (tx, branch: Branch<{ id: string; cents: number }>) => {
 *   await tx.query('UPDATE account SET cents = cents + $1 WHERE id = $2', [branch.payload.cents, branch.payload.id])
 * }))
 * ```
 */
export function signedCalls(
  options: SignedCallsOptions,
): (
  request: SignedExpressRequest,
  response: BranchExpressResponse,
  next: (error?: unknown) => void,
) => Promise<void> {
  const verifier = callVerifier(options)
  return async function signedCalls(request, response, next) {
    try {
      const { method, originalUrl, headers, rawHeaders } = request
      const checkBody = verifier.check({
        method,
        path: originalUrl,
        origin: () => toOrigin(request.protocol, String(headers.host)),
        values: (name) => readRawValues(rawHeaders, name),
      })
      await takeBody(request, checkBody)
    } catch (error: unknown) {
      if (!isRefusal(error)) return next(asBranchError(error))
      // Express 4 ignores promises, so an error that is thrown here has to reach `next`.
      try {
        void callListener(options.onRefused, error)
        respond(response, error)
      } catch (thrown: unknown) {
        next(asBranchError(thrown))
      }
      return
    }
    next()
  }
}

function respond(response: BranchExpressResponse, error: BranchError): void {
  const { statusCode, headers, body } = toRefusalAnswer(error)
  response.status(statusCode)
  response.set({ ...headers })
  response.end(body)
}

function isRefusal(error: unknown): error is BranchError {
  return isBranchError(error) && (error.status === 401 || error.status === 503)
}

async function takeBody(request: SignedExpressRequest, checkBody: BodyCheck): Promise<void> {
  const isAnnounced = hasBody(request.headers)
  if (!isAnnounced && request.httpVersionMajor < HTTP_2) return checkBody(new Uint8Array())
  const kept = findKeptBytes(request)
  if (kept !== undefined) return checkBody(kept)
  if (request.readableDidRead) {
    throw new BranchError(
      'BRANCH_BODY_NOT_RAW',
      'the body was read before signedCalls could check its bytes: put signedCalls before express.json(), or keep them: ' +
        'express.json({ verify: (request, _response, bytes) => { request.rawBody = bytes } })',
    )
  }
  const bytes = await readBody(request, String(request.headers['content-length'] ?? 0))
  checkBody(bytes)
  if (!isAnnounced && bytes.length === 0) return
  // `_body` keeps the parsers of Express 4 from waiting for a stream that has ended.
  Object.assign(request, {
    rawBody: bytes,
    body: parseBody(String(request.headers['content-type']), bytes),
    _body: true,
  })
}

/** Returns the bytes that a parser before us has kept, or that `express.raw()` has made the body. */
function findKeptBytes(request: SignedExpressRequest): Uint8Array | undefined {
  const { body } = request
  const rawBody = 'rawBody' in request ? request.rawBody : undefined
  if (rawBody instanceof Uint8Array) return rawBody
  return body instanceof Uint8Array ? body : undefined
}
