import type { JsonValue } from '@counterstep/protocol'

/** Writes tags as a person types them: `region:eu tier:2`. */
export function writeTags(tags: JsonValue | undefined): string {
  if (typeof tags !== 'object' || tags === null || Array.isArray(tags)) return ''
  return Object.entries(tags)
    .map(([key, value]) => `${key}:${String(value)}`)
    .join(' ')
}

/** Reads them back. A word without a colon is a key with an empty value, which the server will name. */
export function readTags(text: string): Readonly<Record<string, string>> | undefined {
  const words = text.split(/\s+/).filter((word) => word !== '')
  if (words.length === 0) return undefined
  return Object.fromEntries(
    words.map((word) => {
      const at = word.indexOf(':')
      return at < 0 ? [word, ''] : [word.slice(0, at), word.slice(at + 1)]
    }),
  )
}
