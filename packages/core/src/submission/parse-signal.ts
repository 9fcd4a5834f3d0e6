import { type JsonValue, SIGNAL_BYTES_MAX, SIGNAL_ID_LENGTH_MAX } from '@counterstep/protocol'
import type { Signal } from '../transaction.ts'
import type { Writable } from '../writable.ts'
import { canonicalJson } from './canonical-json.ts'
import { Faults, isRecord, type Refused, refuseUnknownFields } from './faults.ts'
import { utf8Length } from './utf8-length.ts'

export type ParsedSignal =
  | {
      readonly type: 'parsed'
      readonly signal: Omit<Signal, 'digest'>
      /** The name and the payload as canonical JSON. Equal texts are the same signal. */
      readonly content: string
    }
  | Refused

const FIELDS = new Set(['id', 'payload'])
const ID = /^[!-~]+$/

/** Reads the body of a signal. A name that no saga waits for needs no check, because no saga will take it. */
export function parseSignal(name: string, body: unknown): ParsedSignal {
  const faults = new Faults()
  const fields = isRecord(body) ? body : {}
  if (!isRecord(body)) faults.add('SAGA_SIGNAL_INVALID', '', 'must be a JSON object')
  refuseUnknownFields(fields, FIELDS, '', faults)
  const { id, payload } = fields
  if (typeof id !== 'string' || id.length > SIGNAL_ID_LENGTH_MAX || !ID.test(id))
    faults.add(
      'SAGA_SIGNAL_INVALID',
      '/id',
      `must be 1–${SIGNAL_ID_LENGTH_MAX} visible ASCII characters without a space`,
    )
  const content = canonicalJson([name, payload === undefined ? [] : [payload as JsonValue]])
  if (content === undefined) faults.add('SAGA_PAYLOAD_TOO_DEEP', '/payload', 'is nested too deep')
  const text = payload === undefined || content === undefined ? undefined : JSON.stringify(payload)
  if (text !== undefined && utf8Length(text, SIGNAL_BYTES_MAX) > SIGNAL_BYTES_MAX)
    faults.add('SAGA_SIGNAL_INVALID', '/payload', `is over ${SIGNAL_BYTES_MAX} bytes`)
  const refused = faults.readRefusal()
  if (refused !== undefined) return refused
  const signal: Writable<Omit<Signal, 'digest'>> = { name, id: String(id) }
  if (text !== undefined) signal.payload = text
  return { type: 'parsed', signal, content: content ?? '' }
}
