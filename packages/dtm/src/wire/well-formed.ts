const LONE_SURROGATE = /\p{Surrogate}/gu

/** As Go reads a text: half pairs, which UTF-8 cannot carry, become U+FFFD. */
export function wellFormed(text: string): string {
  return text.replaceAll(LONE_SURROGATE, '\u{fffd}')
}
