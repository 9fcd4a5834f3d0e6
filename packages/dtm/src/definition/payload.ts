import { isUtf8 } from 'node:buffer'
import {
  BODY_BYTES_MAX,
  BRANCHES_MAX,
  findPayloadFault,
  GRPC_CONTENT_TYPE,
  isGrpcUrl,
  PAYLOAD_BYTES_MAX,
} from '@counterstep/protocol'
import { refuse, refuseUnprocessable } from '../wire/answer.ts'
import type { DtmRequest } from '../wire/read-request.ts'
import { refuseBadJsonRpc } from './json-rpc.ts'

/** A body as it came: over HTTP as text, over gRPC as bytes. */
export interface Payload {
  readonly text: string
  /** The text is bytes in base64. */
  readonly isBase64: boolean
}

export interface Content {
  readonly body: string
  readonly contentType: string
}

/** Reads the body of each step. They stand in `payloads`, or in the `data` of the steps if an old client sends them. */
export function readPayloads({ steps, payloads, hasBinaryPayloads }: DtmRequest): readonly Payload[] {
  const given = payloads.map((text) => ({ text, isBase64: hasBinaryPayloads === true }))
  const inSteps = steps.flatMap(({ data = '' }) => (data === '' ? [] : [{ text: data, isBase64: false }]))
  const all = [...given, ...inSteps]
  if (all.length < steps.length) throw refuse(`${steps.length} steps have only ${all.length} payloads`)
  if (steps.length > BRANCHES_MAX) throw refuseUnprocessable(`more than ${BRANCHES_MAX} steps`)
  return all.slice(0, steps.length)
}

/**
 * Makes the content of a branch of its payload. A message of gRPC is stored in base64, since a body is text. The URLs of one
 * branch are all called over gRPC or all over HTTP, because they get the same body. Throws for a payload that is too large,
 * and for one that a service could read as parameters of the call.
 */
export function buildContent(
  payload: Payload,
  urls: readonly string[],
  { contentType, protocol }: { readonly contentType: string; readonly protocol: string },
): Content {
  const called = urls.filter((url) => url !== '')
  const isGrpc = called.some(isGrpcUrl)
  if (isGrpc && !called.every(isGrpcUrl))
    throw refuseUnprocessable('the two URLs of a branch must both be called over gRPC, or both over HTTP')
  if (isGrpc)
    return { body: readPayload(toBase64(payload), GRPC_CONTENT_TYPE), contentType: GRPC_CONTENT_TYPE }
  const body = readPayload(toText(payload), contentType)
  for (const url of called) refuseBadJsonRpc(protocol, url, body)
  return { body, contentType }
}

/**
 * Counts the bodies of all branches. Each subscriber of a topic gets a copy of the payload, and base64 is longer than its bytes, so a
 * small request could become a large row.
 */
export class BodyCount {
  #bytes = 0

  /** Counts one body before the next is looked at. Throws if they are too large together. */
  add(body: string): void {
    this.#bytes += Buffer.byteLength(body)
    if (this.#bytes > BODY_BYTES_MAX)
      throw refuseUnprocessable(`the payloads of all branches are over ${BODY_BYTES_MAX} bytes`)
  }
}

function readPayload(payload: string, contentType: string): string {
  if (Buffer.byteLength(payload) > PAYLOAD_BYTES_MAX)
    throw refuseUnprocessable(`a payload is over ${PAYLOAD_BYTES_MAX} bytes`)
  const fault = findPayloadFault(contentType, payload)
  if (fault !== undefined) throw refuse(`a payload ${fault}`)
  return payload
}

/** Returns the bytes in base64. */
export function toBase64({ text, isBase64 }: Payload): string {
  return isBase64 ? text : Buffer.from(text).toString('base64')
}

function toText({ text, isBase64 }: Payload): string {
  if (!isBase64) return text
  const bytes = Buffer.from(text, 'base64')
  if (!isUtf8(bytes)) throw refuseUnprocessable('a payload for a branch over HTTP must be UTF-8')
  return bytes.toString()
}
