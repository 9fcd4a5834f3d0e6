import { MalformedMessage } from './call-error.ts'
import type { FieldShape, MessageShape } from './message-shape.ts'

/** A transaction has some hundred payloads and headers at most. */
export const FIELDS_MAX = 1_024

const VARINT = 0
const EIGHT_BYTES = 1
const WITH_LENGTH = 2
const FOUR_BYTES = 5

/** A number has at most so many bytes if it has 32 bits or 64. */
const SHORT_BYTES_MAX = 5
const LONG_BYTES_MAX = 10
const TAG_MAX = 2 ** 32 - 1

interface Place {
  at: number
}

/**
 * Tells whether a message has more fields than a request needs. It is asked before the message is decoded: 1 MiB of empty fields takes
 * protobufjs 0.2 s, and counting stops at the bound. The fields of messages within it count as well. Throws if the message cannot be read,
 * and if protobufjs would read it otherwise than this does: it decodes a field by its number, whatever the type in its tag is, it skips
 * ten bytes for a short number of over five, and it skips a group and goes on, while proto3 has no groups.
 */
export function hasTooManyFields(bytes: Uint8Array, shape: MessageShape): boolean {
  return countFields(bytes, shape, FIELDS_MAX) > FIELDS_MAX
}

function countFields(bytes: Uint8Array, shape: MessageShape, max: number): number {
  const place = { at: 0 }
  let count = 0
  while (place.at < bytes.length && count <= max) {
    const tag = readVarint(bytes, place, SHORT_BYTES_MAX)
    const number = Math.floor(tag / 8)
    if (number === 0 || tag > TAG_MAX) throw new MalformedMessage('a field without a number')
    count++
    const field = shape.get(number)
    if (field !== undefined && tag % 8 !== findType(field))
      throw new MalformedMessage('a field of another type')
    switch (tag % 8) {
      case VARINT:
        readVarint(bytes, place, field === 'bool' ? SHORT_BYTES_MAX : LONG_BYTES_MAX)
        break
      case EIGHT_BYTES:
        skip(bytes, place, 8)
        break
      case FOUR_BYTES:
        skip(bytes, place, 4)
        break
      case WITH_LENGTH: {
        const length = readVarint(bytes, place, SHORT_BYTES_MAX)
        const start = place.at
        skip(bytes, place, length)
        if (typeof field === 'object')
          count += countFields(bytes.subarray(start, place.at), field, max - count)
        break
      }
      default:
        throw new MalformedMessage('a field of no known type')
    }
  }
  return count
}

function findType(field: FieldShape): number {
  return field === 'bool' || field === 'int64' ? VARINT : WITH_LENGTH
}

function skip(bytes: Uint8Array, place: Place, length: number): void {
  if (length > bytes.length - place.at) throw new MalformedMessage('a field beyond the end')
  place.at += length
}

/** A number has seven bits in each byte, the lowest first. */
function readVarint(bytes: Uint8Array, place: Place, bytesMax: number): number {
  let value = 0
  let factor = 1
  for (let n = 0; n < bytesMax && place.at < bytes.length; n++) {
    const byte = bytes[place.at] ?? 0
    place.at++
    value += (byte % 128) * factor
    if (byte < 128) return value
    factor *= 128
  }
  throw new MalformedMessage('a number without an end')
}
