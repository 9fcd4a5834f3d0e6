const POLYNOMIAL = 0x1021

const TABLE = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8
  for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ POLYNOMIAL : crc << 1
  return crc
})

/** Hashes the text's UTF-8 bytes by CRC-16/XMODEM, like a Redis cluster hashes its keys. */
export function crc16(text: string): number {
  let crc = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    // Gids are ASCII and need no buffer.
    if (code > 127) return hashBytes(Buffer.from(text))
    crc = next(crc, code)
  }
  return crc
}

function hashBytes(bytes: Buffer): number {
  let crc = 0
  for (const byte of bytes) crc = next(crc, byte)
  return crc
}

function next(crc: number, byte: number): number {
  return ((crc << 8) & 0xffff) ^ (TABLE[(crc >> 8) ^ byte] ?? 0)
}
