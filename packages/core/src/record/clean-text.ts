/**
 * Signs that may rewrite a line of a terminal or turn the direction of a text. Where they are escaped in JSON, the
 * cleaning of excerpts does not see them.
 */
const HARMFUL_SIGNS = /[^\P{Cc}\t\n]|[\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu

/** Returns the text with another sign in place of each harmful one. */
export function cleanText(text: string): string {
  return text.replace(HARMFUL_SIGNS, '\u{fffd}')
}
