const LONE_SURROGATE = /\p{Surrogate}/gu

/** Replaces lone surrogates, which UTF-8 cannot encode, with U+FFFD, as Go does. */
export function toWellFormed(text: string): string {
  return text.replaceAll(LONE_SURROGATE, '\u{fffd}')
}
