const SLOTS = 16_384
const POLYNOMIAL = 0x1021

/**
 * The slot of a key: CRC16 (XMODEM) of what is between its first `{` and the next `}`, or of all of it (Redis Cluster
 * specification, "Hash tags").
 */
export function computeHashSlot(key: string): number {
  let crc = 0
  for (const byte of Buffer.from(readHashTag(key))) {
    crc ^= byte << 8
    for (let bit = 0; bit < 8; bit++) {
      crc = (crc & 0x8000) === 0 ? crc << 1 : (crc << 1) ^ POLYNOMIAL
    }
    crc &= 0xffff
  }
  return crc % SLOTS
}

function readHashTag(key: string): string {
  const start = key.indexOf('{')
  const end = key.indexOf('}', start + 1)
  return start === -1 || end <= start + 1 ? key : key.slice(start + 1, end)
}
