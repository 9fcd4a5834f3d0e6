const QUOTED_LENGTH_MAX = 120
/** Line breaks, other control characters, and those that would turn the direction of the text around them. */
export const UNSEEN = /[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu

/** Quotes a foreign text, cut and on one line, so that it cannot change how the rest of the sentence reads. */
export function quoteText(text: string): string {
  const line = text.replace(UNSEEN, ' ').trim()
  return `“${line.length > QUOTED_LENGTH_MAX ? `${line.slice(0, QUOTED_LENGTH_MAX)}…` : line}”`
}

/** Quotes what a service answered, as the end of a sentence: `: “…”`. An empty answer adds nothing. */
export function quoteAnswer(answer: string | undefined): string {
  const text = answer === undefined ? '' : readMessage(answer).trim()
  return text === '' || text === '{}' ? '' : `: ${quoteText(text)}`
}

/** Services most often answer JSON with a text in one of these fields. */
function readMessage(answer: string): string {
  try {
    const value: unknown = JSON.parse(answer)
    if (typeof value !== 'object' || value === null) return String(value)
    const fields = new Map(Object.entries(value))
    const said = fields.get('message') ?? fields.get('detail') ?? fields.get('error') ?? fields.get('code')
    return typeof said === 'string' ? said : answer
  } catch {
    // An answer that is no JSON, or only the beginning of one, is shown as it stands.
    return answer
  }
}
