const LONE_SURROGATE = /\p{Surrogate}/gu

/** Reads a text as Go does: half pairs, which UTF-8 cannot carry, become U+FFFD. */
export function wellFormed(text: string): string {
  return text.replaceAll(LONE_SURROGATE, '\u{fffd}')
}
