/**
 * The tags of a row as one text: `key:value` of each in the order of the keys, with a line feed before, between and after
 * them. Neither a key nor a value has a line feed, and a key has no colon. So a row has a tag if and only if its text contains
 * that tag with its line feeds, and a store finds it without a special case for any character.
 */
import type { Tags } from '../ports/store.ts'

/** Null: the row has no tags. */
export function encodeTags(tags: Tags | undefined): string | null {
  if (tags === undefined) return null
  const words = toTagWords(tags)
  return words.length === 0 ? null : `\n${words.join('\n')}\n`
}

export function decodeTags(text: string): Tags | undefined {
  const words = text.split('\n').filter((word) => word !== '')
  if (words.length === 0) return undefined
  return Object.fromEntries(words.map(splitTag))
}

/** Returns each tag as one word, by which an index of the tags finds its row. */
export function toTagWords(tags: Tags = {}): readonly string[] {
  return Object.keys(tags)
    .sort()
    .map((key) => `${key}:${tags[key]}`)
}

/** Returns the parts of the encoded text that a row with all these tags contains. */
export function toTagParts(tags: Tags = {}): readonly string[] {
  return Object.entries(tags).map(([key, value]) => `\n${key}:${value}\n`)
}

function splitTag(word: string): readonly [key: string, value: string] {
  const colon = word.indexOf(':')
  return [word.slice(0, colon), word.slice(colon + 1)]
}
