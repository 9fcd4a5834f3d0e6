import { decodeGoMap, GoTypeError } from '../go-json/decode-go-struct.ts'
import { GoSyntaxError, scanGoValue } from '../go-json/scan-go-json.ts'
import { AnsweredError, answerError } from './answer.ts'

export type Registration = Readonly<Record<string, string>>

/**
 * Reads a flat object of texts, as gin does: with a stream decoder, which ignores text after the object. Gin answers a
 * body of another shape with 400 in plain text, before DTM's own handler could answer 500.
 */
export function readRegistration(body: string): Registration {
  try {
    const { value } = scanGoValue(body)
    return value.type === 'null'
      ? {}
      : decodeGoMap(value, 'value of type map[string]string', 'value of type string')
  } catch (error: unknown) {
    if (!(error instanceof GoSyntaxError) && !(error instanceof GoTypeError)) throw error
    const text = error instanceof GoSyntaxError && error.incomplete ? toEndText(body) : error.message
    throw new AnsweredError({ ...answerError(text, 400), contentType: 'text/plain; charset=utf-8' })
  }
}

function toEndText(body: string): string {
  return body.trim() === '' ? 'EOF' : 'unexpected EOF'
}
