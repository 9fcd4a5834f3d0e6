import { AssertionError } from '@counterstep/core'

export type Value = string | number | null

const SPECIAL = /['\\\0]/
const SPECIALS = /['\\\0]/g

/**
 * Writes a scalar as SQL. It relies on settings that are checked in every session: a charset of bytes or utf8mb4, in which
 * no character hides a quote, and a sql_mode in which a backslash escapes. A value of any other type is a bug, since an
 * object must not become SQL.
 * The driver's own escaping would double every quotation mark of a JSON text.
 */
export function literal(value: unknown): string {
  if (typeof value === 'string') {
    return SPECIAL.test(value) ? `'${value.replace(SPECIALS, escapeCharacter)}'` : `'${value}'`
  }
  if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value)
  if (value === null) return 'NULL'
  throw new AssertionError(`a value that is neither text nor a whole number: ${typeof value}`)
}

function escapeCharacter(character: string): string {
  if (character === "'") return "''"
  return character === '\\' ? '\\\\' : '\\0'
}
