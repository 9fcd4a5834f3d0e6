const LONE_SURROGATE = /\p{Surrogate}/u

/**
 * Counts the bytes of the text in UTF-8, for a comparison with `max`. Where the number of UTF-16 units already decides the
 * comparison, that number is returned instead.
 */
export function utf8Length(text: string, max: number): number {
  if (text.length > max || text.length * 3 <= max) return text.length
  let bytes = 0
  for (let position = 0; position < text.length; position++) {
    const unit = text.charCodeAt(position)
    // Half of a surrogate pair counts 2, so a pair counts 4.
    bytes += unit < 0x80 ? 1 : unit < 0x800 || (unit >= 0xd800 && unit < 0xe000) ? 2 : 3
  }
  return bytes
}

/** Whether the text has no lone surrogates, which UTF-8 cannot represent. */
export function isWellFormed(text: string): boolean {
  return !LONE_SURROGATE.test(text)
}
