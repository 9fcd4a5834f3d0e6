import { isBranchError } from '../branch/branch-errors.ts'
import { toErrorAnswer } from '../branch/http-answer.ts'
import { callListener } from '../call-listener.ts'
import type { AnsweredBranch } from '../http/answer-branch.ts'
import { toArrivedCall } from './arrived-call.ts'
import { callVerifier } from './call-verifier.ts'
import { toRefusalAnswer } from './signature-refusal.ts'
import type { SignedCallsOptions } from './signed-calls-options.ts'

/**
 * A request whose body was read as it came.
 *
 * @example
 * ```ts
 * const { method, url, headers } = request
 * const call: SignedCall = { method, url, headers, body: new Uint8Array(await request.arrayBuffer()) }
 * ```
 */
export interface SignedCall {
  readonly method: string
  /** The absolute URL. Its origin is read only with `trustHost`. */
  readonly url: string
  readonly headers: Headers | Readonly<Record<string, unknown>>
  /** The bytes before anything parsed them. The array is empty if there is no body. */
  readonly body: Uint8Array
}

/**
 * Makes a check of signatures, for a framework that has no `signedCalls` here. The check returns undefined for a call
 * that was signed with one of the keys (RFC 9421). For any other call it returns the answer to send (401, a problem
 * with a code) and the reason. It never rejects or throws.
 *
 * @example
 * ```ts
 * const check = signedCallCheck({ keys: [process.env.COUNTERSTEP_KEY ?? ''], baseUrl: 'https://bank.example' })
 * const { method, url, headers } = request
 * const refused = check({ method, url, headers, body: new Uint8Array(await request.arrayBuffer()) })
 * if (refused !== undefined) {
 *   const { statusCode, headers, body } = refused.answer
 *   return new Response(body, { status: statusCode, headers })
 * }
 * ```
 */
export function signedCallCheck(
  options: SignedCallsOptions,
): (call: SignedCall) => AnsweredBranch | undefined {
  const verifier = callVerifier(options)
  return function checkSignedCall({ method, url, headers, body }) {
    try {
      verifier.check(toArrivedCall({ method, url, headers }))(body)
      return undefined
    } catch (error: unknown) {
      if (!isBranchError(error)) return { answer: toErrorAnswer(error), error }
      void callListener(options.onRefused, error)
      return { answer: toRefusalAnswer(error), error }
    }
  }
}
