const SHARDS = 64
const POLYNOMIAL = 0x1021

/** The shard that the Redis store keeps a gid in; both the number of shards and the hash are in its data for ever. */
export function redisShardOf(gid: string): number {
  return crc16(gid) % SHARDS
}

/** CRC-16/XMODEM, as a Redis cluster hashes its keys. */
function crc16(text: string): number {
  let crc = 0
  for (const byte of Buffer.from(text)) {
    crc ^= byte << 8
    for (let bit = 0; bit < 8; bit += 1) crc = ((crc << 1) ^ (crc & 0x8000 ? POLYNOMIAL : 0)) & 0xffff
  }
  return crc
}
