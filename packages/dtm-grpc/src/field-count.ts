/** A transaction has some hundred payloads and headers at most. */
export const FIELDS_MAX = 1_024

const VARINT = 0
const EIGHT_BYTES = 1
const WITH_LENGTH = 2
const FOUR_BYTES = 5

interface Place {
  at: number
}

/**
 * Tells whether a message has more fields than a request needs. It is asked before the message is decoded: 1 MiB of empty fields takes
 * protobufjs 0.2 s, and counting stops at the bound. The fields within the options, which are field `nested`, count as well. A message that
 * cannot be read is left to the decoder.
 */
export function hasTooManyFields(bytes: Uint8Array, nested?: number): boolean {
  return countFields(bytes, nested, FIELDS_MAX) > FIELDS_MAX
}

function countFields(bytes: Uint8Array, nested: number | undefined, max: number): number {
  const place = { at: 0 }
  let count = 0
  while (place.at < bytes.length && count <= max) {
    const tag = readVarint(bytes, place)
    count++
    switch (tag % 8) {
      case VARINT:
        readVarint(bytes, place)
        break
      case EIGHT_BYTES:
        place.at += 8
        break
      case FOUR_BYTES:
        place.at += 4
        break
      case WITH_LENGTH: {
        const length = readVarint(bytes, place)
        if (Math.floor(tag / 8) === nested)
          count += countFields(bytes.subarray(place.at, place.at + length), undefined, max - count)
        place.at += length
        break
      }
      default:
        return count
    }
  }
  return count
}

/** A number has seven bits in each byte, the lowest first. */
function readVarint(bytes: Uint8Array, place: Place): number {
  let value = 0
  for (let factor = 1; place.at < bytes.length; factor *= 128) {
    const byte = bytes[place.at] ?? 0
    place.at++
    value += (byte % 128) * factor
    if (byte < 128) return value
  }
  return value
}
