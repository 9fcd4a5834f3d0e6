import { toWellFormed } from './to-well-formed.ts'

/** An answer repeats this much of what a request says. Escaping a text of 1 MiB would keep others waiting. */
export const REPEATED_LENGTH_MAX = 256

export function cutRepeated(text: string): string {
  return toWellFormed(text.slice(0, REPEATED_LENGTH_MAX))
}
