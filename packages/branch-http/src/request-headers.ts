import type { BranchCall } from '@counterstep/core'
import type { CallSigner } from '@counterstep/signature'

// Submit refuses them (S9). Here they are left out, because failing a call for good at this point would make a
// transaction that was stored by an older version one that can never end.
const OURS = new Set([
  'host',
  'connection',
  'keep-alive',
  'content-length',
  'content-type',
  'transfer-encoding',
  'upgrade',
  'te',
  'trailer',
  'expect',
  'cookie',
  'counterstep-attempt',
  'counterstep-epoch',
  'counterstep-accepted-at',
])

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
    if (value !== undefined && !OURS.has(name) && !name.startsWith('proxy-')) headers.push(name, value)
  }
  return headers
}

const SIGNED = new Set(['content-digest', 'signature-input', 'signature'])

/** With the three headers of a signature over what is sent; a digest that the submit gave is not sent beside ours. */
export function signedHeadersOf(call: BranchCall, targetUri: string, signer: CallSigner): string[] {
  const isGet = call.method === 'GET'
  const headers = headersOf(withoutSigned(call))
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

function withoutSigned(call: BranchCall): BranchCall {
  const own = Object.entries(call.headers)
  if (!own.some(([name]) => SIGNED.has(name))) return call
  return { ...call, headers: Object.fromEntries(own.filter(([name]) => !SIGNED.has(name))) }
}
