import { type BranchCall, isReservedHeader } from '@counterstep/core'
import { IDENTITY_HEADERS } from '@counterstep/protocol'
import type { CallSigner } from '@counterstep/signature'
import type { CheckedPayloads } from './checked-payloads.ts'

/** A header or a payload that cannot be sent. It shows nothing of either. */
class BadRequestError extends Error {
  readonly code = 'COUNTERSTEP_BAD_REQUEST'

  constructor() {
    super('a header or a payload that cannot be sent')
    this.name = 'BadRequestError'
  }
}

/** Some firewalls in front of services refuse a request without one. */
const USER_AGENT = 'counterstep'

// RFC 9110, 5.6.2 and 5.5. undici refuses the same, but only when a connection is there.
const NAME = /^[!#$%&'*+\-.^_`|~\dA-Za-z]+$/
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/

/**
 * The caller's own headers of a call, each name before its value. Throws BadRequestError where one of them, or the
 * payload, can be in no request.
 */
export function ownHeaders(call: BranchCall, payloads: CheckedPayloads): string[] {
  if (!payloads.maySend(call)) throw new BadRequestError()
  const { headers: given } = call
  const headers: string[] = []
  for (const name in given) {
    const value = given[name]
    // Submit refuses reserved ones (S9). Here they are left out, because failing a call for good at this point would make
    // a transaction that was stored by an older version one that can never end.
    if (value === undefined || isLeftOut(name.toLowerCase())) continue
    if (!NAME.test(name) || !VALUE.test(value)) throw new BadRequestError()
    headers.push(name, value)
  }
  return headers
}

/** How an answer is packed is between this caller and the branch: two such headers could ask for what is not read. */
function isLeftOut(name: string): boolean {
  return name === 'accept-encoding' || isReservedHeader(name)
}

/** All headers but the host and the length, which undici writes. `own` is what `ownHeaders` gave for this call. */
export function requestHeaders(
  call: BranchCall,
  own: readonly string[],
  targetUri: string,
  signer: CallSigner | undefined,
): string[] {
  const headers = ['accept-encoding', 'identity']
  if (call.headers['user-agent'] === undefined) headers.push('user-agent', USER_AGENT)
  if (call.method === 'POST') headers.push('content-type', call.contentType)
  headers.push('counterstep-attempt', String(call.attempt))
  headers.push('counterstep-epoch', String(call.epoch))
  headers.push('counterstep-accepted-at', String(call.acceptedAt))
  // The identity once more, for services that would rather not read it from the query.
  headers.push(IDENTITY_HEADERS.gid, call.gid, IDENTITY_HEADERS.branchId, call.branchId)
  headers.push(IDENTITY_HEADERS.op, call.op, IDENTITY_HEADERS.kind, call.kind)
  headers.push(...own)
  if (signer !== undefined) headers.push(...signatureHeaders(call, targetUri, signer))
  return headers
}

function signatureHeaders(call: BranchCall, targetUri: string, signer: CallSigner): readonly string[] {
  const isGet = call.method === 'GET'
  return signer.sign({
    method: call.method,
    targetUri,
    contentType: isGet ? undefined : call.contentType,
    attempt: String(call.attempt),
    epoch: String(call.epoch),
    acceptedAt: String(call.acceptedAt),
    gid: call.gid,
    branchId: call.branchId,
    op: call.op,
    kind: call.kind,
    body: isGet ? '' : call.body,
  })
}
