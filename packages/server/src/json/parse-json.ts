import { isUtf8 } from 'node:buffer'
import { findJsonFault, InvalidRequestError } from '@counterstep/protocol'

// A double keeps a decimal of at most 15 significant digits and no exponent. So only a literal with 16 digits or dots
// in a row, or with an exponent, needs the slow `findJsonFault`. A literal follows a blank, a colon, a comma or a bracket,
// so the hex digits of a UUID in a string ("…1e5…") do not need it.
const MAY_HOLD_AN_INEXACT_NUMBER = /[\s:,[]-?[0-9](?:[0-9.]{15}|[0-9.]*[eE])/

/** Parses a body to a value in which JavaScript changes no number. Throws an InvalidRequestError. */
export function parseJson(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw toMalformedError('the body is not valid UTF-8')
  const text = bytes.toString('utf8')
  const value = parseText(text)
  if (typeof value === 'number' || MAY_HOLD_AN_INEXACT_NUMBER.test(text) || mayHoldPoisonousKey(text)) {
    const fault = findJsonFault(text)
    if (fault !== undefined) throw new InvalidRequestError([fault])
  }
  return value
}

// One regular expression with alternatives took four times as long as three searches. An escape may hide a letter.
function mayHoldPoisonousKey(text: string): boolean {
  return text.includes('__proto__"') || text.includes('"constructor"') || text.includes('\\u00')
}

function parseText(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The parser's own text and cause are left out, since they quote the body.
    throw toMalformedError('the body is not valid JSON')
  }
}

function toMalformedError(message: string): InvalidRequestError {
  return new InvalidRequestError([{ code: 'SAGA_MALFORMED_JSON', path: '', message }])
}
