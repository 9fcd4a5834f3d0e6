const LENGTH_DELIMITED = 2
const VARINT_BITS = 7
const MORE = 0x80

/** Encodes a field of protobuf that holds a text, bytes or another message. */
export function encodeField(number: number, value: string | Uint8Array): Buffer {
  const bytes = typeof value === 'string' ? Buffer.from(value) : value
  return Buffer.concat([encodeVarint((number << 3) | LENGTH_DELIMITED), encodeVarint(bytes.length), bytes])
}

/** Encodes a field that is true. */
export function encodeTrue(number: number): Buffer {
  return Buffer.concat([encodeVarint(number << 3), encodeVarint(1)])
}

function encodeVarint(value: number): Buffer {
  const bytes: number[] = []
  let rest = value
  while (rest >= MORE) {
    bytes.push((rest % MORE) + MORE)
    rest >>>= VARINT_BITS
  }
  bytes.push(rest)
  return Buffer.from(bytes)
}
