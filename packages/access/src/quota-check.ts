import type { FastifyReply, FastifyRequest } from 'fastify'
import { QuotaExceededError } from './errors.ts'
import type { Gate } from './gate.ts'

/**
 * Makes the function that a route hands to the engine as `takeBytes`. The engine calls it with the number of bytes that
 * it is about to store, and the quota of the request's API key counts them. It throws SAGA_QUOTA_EXCEEDED. Returns
 * undefined if there are no quotas.
 */
export function buildQuotaCheck(
  { takeStored }: Pick<Gate, 'takeStored'>,
  request: FastifyRequest,
  reply: FastifyReply,
): ((bytes: number) => void) | undefined {
  if (takeStored === undefined) return undefined
  return function checkQuota(bytes) {
    const refusal = takeStored(request.raw, bytes)
    if (refusal === undefined) return
    tellRetryAfter(reply, refusal)
    throw refusal
  }
}

/** Tells the caller when its quota begins anew, if the error is that there is none left. */
export function tellRetryAfter(reply: FastifyReply, refusal: unknown): void {
  if (refusal instanceof QuotaExceededError) reply.header('retry-after', String(refusal.retryAfterS))
}
