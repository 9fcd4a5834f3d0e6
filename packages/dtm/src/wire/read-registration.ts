import { decodeGoMap, GoTypeError } from '../go-json/decode-go-struct.ts'
import { GoSyntaxError, scanGoValue } from '../go-json/scan-go-json.ts'
import { AnsweredError, trouble } from './answer.ts'

export type Registration = Readonly<Record<string, string>>

/**
 * A flat object of texts. Gin reads it with a stream decoder, so text after the object is not looked at, and answers
 * what does not fit with 400 as plain text before its own handler can say 500.
 */
export function readRegistration(body: string): Registration {
  try {
    const { value } = scanGoValue(body)
    return value.type === 'null'
      ? {}
      : decodeGoMap(value, 'value of type map[string]string', 'value of type string')
  } catch (error: unknown) {
    if (!(error instanceof GoSyntaxError) && !(error instanceof GoTypeError)) throw error
    const text = error instanceof GoSyntaxError && error.incomplete ? endText(body) : error.message
    throw new AnsweredError({ ...trouble(text, 400), contentType: 'text/plain; charset=utf-8' })
  }
}

function endText(body: string): string {
  return body.trim() === '' ? 'EOF' : 'unexpected EOF'
}
