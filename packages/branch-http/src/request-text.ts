import { type BranchCall, isReservedHeader } from '@counterstep/core'
import { findPayloadFault, IDENTITY_HEADERS } from '@counterstep/protocol'
import type { CallSigner } from '@counterstep/signature'

/** What is written to a connection. */
export interface RequestText {
  /** The request line and the fields, with the empty line. Each character is a byte. */
  readonly head: string
  /** Whether the head is the same bytes in UTF-8. */
  readonly isHeadAscii: boolean
  /** To be sent in UTF-8. */
  readonly body: string
  readonly isBodyAscii: boolean
}

/** A field that cannot be written. It shows neither name nor value. */
class BadHeaderError extends Error {
  readonly code = 'COUNTERSTEP_BAD_HEADER'

  constructor() {
    super('a header that cannot be sent')
    this.name = 'BadHeaderError'
  }
}

// RFC 9110, 5.6.2 and 5.5.
const NAME = /^[!#$%&'*+\-.^_`|~\dA-Za-z]+$/
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/
const ASCII = /^[\t\r\n\x20-\x7e]*$/

/** The caller's own fields of a call. Throws BadHeaderError where one of them, or the payload, can be in no request. */
export function ownFields({ method, contentType, body, headers }: BranchCall): string {
  // Submit refuses such a payload; one that was stored by an older version is not sent.
  if (method === 'POST' && findPayloadFault(contentType, body) !== undefined) throw new BadHeaderError()
  let fields = ''
  for (const name in headers) {
    const value = headers[name]
    // Submit refuses reserved ones (S9). Here they are left out, because failing a call for good at this point would make
    // a transaction that was stored by an older version one that can never end.
    if (value === undefined || isLeftOut(name.toLowerCase())) continue
    if (!NAME.test(name) || !VALUE.test(value)) throw new BadHeaderError()
    fields += `${name}: ${value}\r\n`
  }
  return fields
}

/** How an answer is packed is between this caller and the branch: two such headers could ask for what is not read. */
function isLeftOut(name: string): boolean {
  return name === 'accept-encoding' || isReservedHeader(name)
}

/** `own` is what `ownFields` gave for this call. */
export function requestText(
  call: BranchCall,
  own: string,
  { host, origin, path }: { readonly host: string; readonly origin: string; readonly path: string },
  signer: CallSigner | undefined,
): RequestText {
  const signature = signer === undefined ? '' : signatureFields(call, origin + path, signer)
  const isGet = call.method === 'GET'
  const body = isGet ? '' : call.body
  const type = isGet ? '' : `content-type: ${call.contentType}\r\n`
  const bodyBytes = Buffer.byteLength(body)
  const length = isGet ? '' : `content-length: ${bodyBytes}\r\n`
  const head = `${call.method} ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\naccept-encoding: identity\r\n${type}counterstep-attempt: ${call.attempt}\r\ncounterstep-epoch: ${call.epoch}\r\ncounterstep-accepted-at: ${call.acceptedAt}\r\n${identityFields(call)}${own}${signature}${length}\r\n`
  // The rest is ours, or as URLs are written.
  const isHeadAscii = ASCII.test(own) && ASCII.test(type)
  return { head, isHeadAscii, body, isBodyAscii: bodyBytes === body.length }
}

/** The identity once more, for services that would rather not read it from the query. Ids are printable ASCII. */
function identityFields({ gid, branchId, op, kind }: BranchCall): string {
  return `${IDENTITY_HEADERS.gid}: ${gid}\r\n${IDENTITY_HEADERS.branchId}: ${branchId}\r\n${IDENTITY_HEADERS.op}: ${op}\r\n${IDENTITY_HEADERS.kind}: ${kind}\r\n`
}

function signatureFields(call: BranchCall, targetUri: string, signer: CallSigner): string {
  const isGet = call.method === 'GET'
  const names = signer.sign({
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
  let fields = ''
  for (let at = 0; at < names.length; at += 2) fields += `${names[at]}: ${names[at + 1]}\r\n`
  return fields
}
