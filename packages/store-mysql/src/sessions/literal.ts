import { AssertionError } from '@counterstep/core'

export type Value = string | number | null

const SPECIAL = /['\\\0]/
const SPECIALS = /['\\\0]/g
const SPECIAL_CHARACTERS = ["'", '\\', '\0']
/**
 * A text that is this long, and of which so large a part would be escaped, is written in hexadecimal digits. To escape each character
 * of a text of 1 MiB would take a tenth of a second, and as long again in the server.
 */
const HEX_LENGTH_MIN = 4_096
const HEX_PART = 1 / 16

/**
 * Writes a scalar as SQL. It relies on settings that are checked in every session: a charset of bytes or utf8mb4, in which
 * no character hides a quote, and a sql_mode in which a backslash escapes. A value of any other type is a bug, since an
 * object must not become SQL.
 * The driver's own escaping would double every quotation mark of a JSON text.
 */
export function literal(value: unknown): string {
  if (typeof value === 'string') {
    if (value.length >= HEX_LENGTH_MIN && hasManySpecials(value))
      return `x'${Buffer.from(value).toString('hex')}'`
    return SPECIAL.test(value) ? `'${value.replace(SPECIALS, escapeCharacter)}'` : `'${value}'`
  }
  if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value)
  if (value === null) return 'NULL'
  throw new AssertionError(`a value that is neither text nor a whole number: ${typeof value}`)
}

function hasManySpecials(text: string): boolean {
  let left = text.length * HEX_PART
  for (const character of SPECIAL_CHARACTERS)
    for (let at = text.indexOf(character); at >= 0; at = text.indexOf(character, at + 1))
      if (--left < 0) return true
  return false
}

function escapeCharacter(character: string): string {
  if (character === "'") return "''"
  return character === '\\' ? '\\\\' : '\\0'
}
