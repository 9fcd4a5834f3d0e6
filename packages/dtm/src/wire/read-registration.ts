import { decodeGoMap, GoTypeError } from '../go-json/decode-go-struct.ts'
import type { GoValue } from '../go-json/go-value.ts'
import { GoSyntaxError, scanGoValue } from '../go-json/scan-go-json.ts'
import { AnsweredError, answerError } from './answer.ts'
import { pick } from './pick.ts'

const KEYS = ['gid', 'trans_type', 'branch_id', 'op', 'status', 'data', 'confirm', 'cancel', 'url'] as const

export type Registration = Readonly<Record<string, string>>

/**
 * Reads a flat object of texts, as gin does: with a stream decoder, which ignores text after the object. Gin answers a
 * body of another shape with 400 in plain text, before DTM's own handler could answer 500.
 */
export function readRegistration(body: string): Registration {
  try {
    return toRegistration(scanGoValue(body).value)
  } catch (error: unknown) {
    if (!(error instanceof GoSyntaxError) && !(error instanceof GoTypeError)) throw error
    const text = error instanceof GoSyntaxError && error.incomplete ? toEndText(body) : error.message
    throw new AnsweredError({ ...answerError(text, 400), contentType: 'text/plain; charset=utf-8' })
  }
}

/** Throws GoTypeError. */
export function toRegistration(value: GoValue): Registration {
  if (value.type === 'null') return {}
  return pick(decodeGoMap(value, 'value of type map[string]string', 'value of type string'), KEYS)
}

function toEndText(body: string): string {
  return body.trim() === '' ? 'EOF' : 'unexpected EOF'
}
