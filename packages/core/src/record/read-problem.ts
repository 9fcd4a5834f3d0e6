import { ANSWER_BYTES_MAX, REASON_LENGTH_MAX } from '@counterstep/protocol'

/** A longer text is not parsed, because no answer and no reason is stored beyond its limit. */
const PROBLEM_LENGTH_MAX = Math.max(ANSWER_BYTES_MAX, REASON_LENGTH_MAX)

/** Signs that may rewrite a terminal's line or turn a text's direction: escaped in JSON they are not seen when an excerpt is cleaned. */
const HARMFUL = /[^\P{Cc}\t\n]|[\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu

export interface Problem {
  readonly code?: string
  readonly message?: string
}

/**
 * Reads the `code` and the `message` of a stored answer or reason that is JSON. The result is empty for every other text, and
 * for an answer that was cut at its limit: such a text is shown as it is, and no part of it is guessed.
 */
export function readProblem(text: string | undefined): Problem {
  if (text === undefined || text.length > PROBLEM_LENGTH_MAX || !text.trimStart().startsWith('{')) return {}
  let value: { readonly code?: unknown; readonly message?: unknown }
  try {
    value = JSON.parse(text)
  } catch {
    // The text only begins like JSON, or it is an excerpt of JSON.
    return {}
  }
  const { code, message } = value
  if (typeof code !== 'string' || code === '') return {}
  return typeof message === 'string' ? { code: clean(code), message: clean(message) } : { code: clean(code) }
}

function clean(text: string): string {
  return text.replace(HARMFUL, '\u{fffd}')
}
