const LONE_SURROGATE = /\p{Surrogate}/u

/** Bytes of the text in UTF-8, or more than `max` as soon as it is over. */
export function utf8Length(text: string, max: number): number {
  if (text.length > max || text.length * 3 <= max) return text.length
  let bytes = 0
  for (let position = 0; position < text.length; position++) {
    const unit = text.charCodeAt(position)
    // Half of a pair counts 2, so that a pair counts 4.
    bytes += unit < 0x80 ? 1 : unit < 0x800 || (unit >= 0xd800 && unit < 0xe000) ? 2 : 3
  }
  return bytes
}

/** Without half pairs, which UTF-8 cannot carry. */
export function isWellFormed(text: string): boolean {
  return !LONE_SURROGATE.test(text)
}
