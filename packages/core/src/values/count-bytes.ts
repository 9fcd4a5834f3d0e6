import { utf8Length } from '../submission/utf8-length.ts'
import { computeOnce } from './compute-once.ts'

/** Counts the bytes of a text in UTF-8. */
export function countBytes(text: string): number {
  return utf8Length(text, text.length)
}

/** Counts the bytes of each kept value. A missing value has none. */
export const countValueBytes = computeOnce((values: readonly (string | null)[]) =>
  values.map((value) => countBytes(value ?? '')),
)
