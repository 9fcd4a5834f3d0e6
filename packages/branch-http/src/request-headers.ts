import { type BranchCall, isReservedHeader } from '@counterstep/core'
import type { CallSigner } from '@counterstep/signature'

/** Names and values in turn: the form that undici reads without making an object's keys. */
export function headersOf(call: BranchCall): string[] {
  const headers = [
    ...(call.method === 'GET' ? [] : ['content-type', call.contentType]),
    'counterstep-attempt',
    String(call.attempt),
    'counterstep-epoch',
    String(call.epoch),
    'counterstep-accepted-at',
    String(call.acceptedAt),
  ]
  for (const name in call.headers) {
    const value = call.headers[name]
    // Submit refuses those (S9). Here they are left out, because failing a call for good at this point would make a
    // transaction that was stored by an older version one that can never end.
    if (value !== undefined && !isReservedHeader(name)) headers.push(name, value)
  }
  return headers
}

/** With the three headers of a signature over what is sent. */
export function signedHeadersOf(call: BranchCall, targetUri: string, signer: CallSigner): string[] {
  const isGet = call.method === 'GET'
  const headers = headersOf(call)
  const signature = signer.sign({
    method: call.method,
    targetUri,
    contentType: isGet ? undefined : call.contentType,
    attempt: String(call.attempt),
    epoch: String(call.epoch),
    acceptedAt: String(call.acceptedAt),
    body: isGet ? '' : call.body,
  })
  headers.push(...signature)
  return headers
}
