import { BRANCHES_MAX, findPayloadFault, PAYLOAD_BYTES_MAX } from '@counterstep/protocol'
import { refuse, refuseUnprocessable } from '../wire/answer.ts'
import type { DtmRequest } from '../wire/read-request.ts'

/** Reads the body of each step. They stand in `payloads`, or in the `data` of the steps if an old client sends them. */
export function readPayloads({ steps, payloads }: DtmRequest, contentType: string): readonly string[] {
  const inSteps = steps.flatMap(({ data = '' }) => (data === '' ? [] : [data]))
  const all = [...payloads, ...inSteps]
  if (all.length < steps.length) throw refuse(`${steps.length} steps have only ${all.length} payloads`)
  if (steps.length > BRANCHES_MAX) throw refuseUnprocessable(`more than ${BRANCHES_MAX} steps`)
  return all.slice(0, steps.length).map((payload) => readPayload(payload, contentType))
}

/** Throws for a payload that is too large, and for one that a service could read as parameters of the call. */
export function readPayload(payload: string, contentType: string): string {
  if (Buffer.byteLength(payload) > PAYLOAD_BYTES_MAX)
    throw refuseUnprocessable(`a payload is over ${PAYLOAD_BYTES_MAX} bytes`)
  const fault = findPayloadFault(contentType, payload)
  if (fault !== undefined) throw refuse(`a payload ${fault}`)
  return payload
}
