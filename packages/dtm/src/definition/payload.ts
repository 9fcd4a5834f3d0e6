import { BRANCHES_MAX, findPayloadFault, PAYLOAD_BYTES_MAX } from '@counterstep/protocol'
import { refuse, refuseOver } from '../wire/answer.ts'
import type { DtmRequest } from '../wire/read-request.ts'

/** The body of each step: `payloads` first, then the `data` of steps, as old clients send it. */
export function payloadsOf({ steps, payloads }: DtmRequest, contentType: string): readonly string[] {
  const inSteps = steps.flatMap(({ data = '' }) => (data === '' ? [] : [data]))
  const all = [...payloads, ...inSteps]
  if (all.length < steps.length) throw refuse(`${steps.length} steps have only ${all.length} payloads`)
  if (steps.length > BRANCHES_MAX) throw refuseOver(`more than ${BRANCHES_MAX} steps`)
  return all.slice(0, steps.length).map((payload) => readPayload(payload, contentType))
}

/** Throws for what is too large, and for what a service could read as parameters of the call. */
export function readPayload(payload: string, contentType: string): string {
  if (Buffer.byteLength(payload) > PAYLOAD_BYTES_MAX)
    throw refuseOver(`a payload is over ${PAYLOAD_BYTES_MAX} bytes`)
  const fault = findPayloadFault(contentType, payload)
  if (fault !== undefined) throw refuse(`a payload ${fault}`)
  return payload
}
