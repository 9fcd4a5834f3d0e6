import { type BranchCall, isReservedHeader } from '@counterstep/core'
import { IDENTITY_HEADERS } from '@counterstep/protocol'
import type { CallSigner, CallToSign } from '@counterstep/signature'
import type { CheckedPayloads } from './checked-payloads.ts'
import { buildTraceHeaders } from './trace-headers.ts'

/** A header or a payload cannot be sent. The error shows nothing of either. */
export class BadRequestError extends Error {
  readonly code = 'COUNTERSTEP_BAD_REQUEST'

  constructor() {
    super('a header or a payload that cannot be sent')
    this.name = 'BadRequestError'
  }
}

/** Every request has this name, because some firewalls in front of services refuse a request without one. */
export const USER_AGENT = 'counterstep'

// These are the rules of RFC 9110, 5.6.2 and 5.5. undici checks the same, but only once there is a connection.
const NAME = /^[!#$%&'*+\-.^_`|~\dA-Za-z]+$/
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/

/**
 * Returns the headers that the submit gave the call, each name before its value. Throws BadRequestError if a header
 * or the payload can be in no request.
 */
export function listOwnHeaders(call: BranchCall, payloads: CheckedPayloads): string[] {
  if (!payloads.maySend(call)) throw new BadRequestError()
  const { headers: given } = call
  const headers: string[] = []
  for (const name in given) {
    const value = given[name]
    // The submit refuses reserved headers (S9). Here they are left out, because an older version may have stored a
    // transaction with one, and that transaction could never end if its call failed for good.
    if (value === undefined || isLeftOut(name.toLowerCase())) continue
    if (!NAME.test(name) || !VALUE.test(value)) throw new BadRequestError()
    headers.push(name, value)
  }
  return headers
}

/** This caller alone says which packed answers it reads. A second such header could ask for others. */
function isLeftOut(name: string): boolean {
  return name === 'accept-encoding' || isReservedHeader(name)
}

export interface Sending {
  readonly signer: CallSigner | undefined
  /** The time until the deadline of the call. */
  readonly leftMs: number
  /** A tool adds the headers of a trace to the request. */
  readonly isTraced: boolean
}

/** Returns all headers except the host and the length, which undici writes. `own` is the result of `listOwnHeaders`. */
export function buildRequestHeaders(
  call: BranchCall,
  own: readonly string[],
  targetUri: string,
  { signer, leftMs, isTraced }: Sending,
): string[] {
  const headers = ['accept-encoding', 'identity']
  if (call.headers['user-agent'] === undefined) headers.push('user-agent', USER_AGENT)
  if (call.method === 'POST') headers.push('content-type', call.contentType)
  headers.push('counterstep-attempt', String(call.attempt))
  headers.push('counterstep-epoch', String(call.epoch))
  headers.push('counterstep-accepted-at', String(call.acceptedAt))
  // These repeat the identity for services that do not want to read it from the query.
  headers.push(IDENTITY_HEADERS.gid, call.gid, IDENTITY_HEADERS.branchId, call.branchId)
  headers.push(IDENTITY_HEADERS.op, call.op, IDENTITY_HEADERS.kind, call.kind)
  const undo = describeUndo(call)
  if (undo !== undefined) headers.push('counterstep-undo', undo)
  // A handler that runs steps within the call answers before its time is over.
  const budgetMs = call.op === 'plan' ? String(leftMs) : undefined
  if (budgetMs !== undefined) headers.push('counterstep-budget-ms', budgetMs)
  headers.push(...own)
  headers.push(...buildTraceHeaders(call, isTraced))
  if (signer !== undefined)
    headers.push(
      ...signer.sign({
        ...toCallToSign(call, targetUri),
        ...(budgetMs === undefined ? {} : { budgetMs }),
      }),
    )
  return headers
}

/** Describes what the service must know of the undo: that none will follow, or that this one has something to undo. */
function describeUndo({ hasNoUndo, mustUndo }: BranchCall): 'none' | 'due' | undefined {
  if (hasNoUndo === true) return 'none'
  return mustUndo === true ? 'due' : undefined
}

function toCallToSign(call: BranchCall, targetUri: string): CallToSign {
  const isGet = call.method === 'GET'
  const undo = describeUndo(call)
  return {
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
    ...(undo === undefined ? {} : { undo }),
    body: isGet ? '' : call.body,
  }
}
