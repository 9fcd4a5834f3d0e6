/** FNV-1a over UTF-16 units, 32 bits: the same for the same text, and spread, but not hard to meet on purpose. */
export function textHash(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return hash >>> 0
}
