// Both find what could rewrite a line of a terminal, turn the direction of a text, or hide a part of it.
const HARMFUL =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: The pattern has to find control characters.
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g

/** Replaces all harmful characters but line feeds. Whatever is printed goes through it. */
export function cleanText(text: string): string {
  return text.replace(HARMFUL, '\u{fffd}')
}

/** The same for a text from a server, which may not begin a line of its own. */
export function cleanLine(text: string): string {
  return cleanText(text.replaceAll('\n', '\u{fffd}'))
}

/** Writes JSON in which harmful characters stand as escapes, so that it stays the same value. */
export function cleanJson(value: unknown, indent = 0): string {
  return JSON.stringify(value, undefined, indent).replace(
    HARMFUL,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
