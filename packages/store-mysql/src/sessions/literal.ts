import { AssertionError } from '@counterstep/core'

export type Value = string | number | null

const SPECIAL = /['\\\0]/
const SPECIALS = /['\\\0]/g

/**
 * A scalar as SQL. It relies on what every session is set to and checked for: bytes or utf8mb4, where no character hides a quote,
 * and a sql_mode in which a backslash escapes. A value of any other type is a bug, never text: an object must not become SQL.
 * The driver's own escaping would double every quotation mark of a JSON text.
 */
export function literal(value: unknown): string {
  if (typeof value === 'string') {
    return SPECIAL.test(value) ? `'${value.replace(SPECIALS, escaped)}'` : `'${value}'`
  }
  if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value)
  if (value === null) return 'NULL'
  throw new AssertionError(`a value that is neither text nor a whole number: ${typeof value}`)
}

function escaped(character: string): string {
  if (character === "'") return "''"
  return character === '\\' ? '\\\\' : '\\0'
}
