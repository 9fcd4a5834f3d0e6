/** Computes FNV-1a over UTF-16 units, in 32 bits. It spreads texts well, but a collision is easy to make on purpose. */
export function textHash(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return hash >>> 0
}
