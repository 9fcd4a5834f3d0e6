import { utf8Length } from '../submission/utf8-length.ts'

/** Counts the bytes of a text in UTF-8. */
export function countBytes(text: string): number {
  return utf8Length(text, text.length)
}

const BYTES_OF_VALUES = new WeakMap<readonly (string | null)[], readonly number[]>()

/**
 * Counts the bytes of each kept value, once for each list, because a saga of 100 branches asks for them at each step. A
 * missing value has none.
 */
export function countValueBytes(values: readonly (string | null)[]): readonly number[] {
  let counted = BYTES_OF_VALUES.get(values)
  if (counted === undefined) {
    counted = values.map((value) => countBytes(value ?? ''))
    BYTES_OF_VALUES.set(values, counted)
  }
  return counted
}
