import { ANSWER_BYTES_MAX, REASON_LENGTH_MAX } from '@counterstep/protocol'

/** A longer text is no answer and no reason that was kept within its bound: it is not parsed. */
const PROBLEM_LENGTH_MAX = Math.max(ANSWER_BYTES_MAX, REASON_LENGTH_MAX)

export interface Problem {
  readonly code?: string
  readonly message?: string
}

/**
 * The `code` and the `message` that a kept answer or reason has as JSON. It is empty for every other text, and for an answer
 * that was cut at its bound: such a text is shown as it is, and no part of it is guessed.
 */
export function readProblem(text: string | undefined): Problem {
  if (text === undefined || text.length > PROBLEM_LENGTH_MAX || !text.trimStart().startsWith('{')) return {}
  let value: { readonly code?: unknown; readonly message?: unknown }
  try {
    value = JSON.parse(text)
  } catch {
    // It is a text that begins like JSON, or an excerpt of some.
    return {}
  }
  const { code, message } = value
  if (typeof code !== 'string' || code === '') return {}
  return typeof message === 'string' ? { code, message } : { code }
}
