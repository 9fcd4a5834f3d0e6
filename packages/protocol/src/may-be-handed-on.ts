import { findStringEnd } from './json-depth.ts'
import { JSON_DEPTH_MAX } from './limits.ts'

/** A name of eleven characters at most, each of them written as an escape (`\u005f`). */
const WRITTEN_LENGTH_MAX = 66
const FORBIDDEN_LENGTHS: readonly number[] = ['__proto__', 'prototype', 'constructor'].map(
  ({ length }) => length,
)

/** Says of a value why it may not be handed on. */
export const NOT_HANDED_ON = `has the key __proto__, or prototype in constructor, or over ${JSON_DEPTH_MAX} levels`

/**
 * Tells whether what one service has answered may stand in a request to another one. Many servers refuse a body for ever that is
 * nested too deep, or has a key that reaches a prototype (`__proto__`, or `constructor` with a `prototype` below it), so one
 * branch could keep another from being undone.
 *
 * It takes a text that is JSON, and reads its signs one by one without making a value of them: thirty values of 64 KiB that stand
 * in each other, with 20,000 objects each, would take seconds to parse and walk.
 */
export function mayBeHandedOn(json: string): boolean {
  /** Tells for each open bracket whether its content stands under the name `constructor`. */
  const open: boolean[] = []
  let isUnderConstructor = false
  for (let at = 0; at < json.length; at++) {
    const sign = json[at]
    if (sign === '"') {
      const start = at
      at = findStringEnd(json, start)
      const behind = skipSpace(json, at + 1)
      isUnderConstructor = false
      if (json[behind] !== ':') continue
      const name = readForbiddenName(json.slice(start + 1, at))
      if (name === '__proto__' || (name === 'prototype' && open.at(-1) === true)) return false
      isUnderConstructor = name === 'constructor'
      at = behind
    } else if (sign === '{' || sign === '[') {
      open.push(isUnderConstructor)
      isUnderConstructor = false
      if (open.length > JSON_DEPTH_MAX) return false
    } else if (sign === '}' || sign === ']') open.pop()
    else if (sign === ',') isUnderConstructor = false
  }
  return true
}

/** Returns the name where it may be a forbidden one. Most are told by their length alone. */
function readForbiddenName(written: string): string | undefined {
  if (FORBIDDEN_LENGTHS.includes(written.length)) return written
  if (written.length > WRITTEN_LENGTH_MAX || !written.includes('\\')) return undefined
  return JSON.parse(`"${written}"`) as string
}

function skipSpace(json: string, from: number): number {
  let at = from
  while (at < json.length && ' \t\n\r'.includes(json[at] as string)) at++
  return at
}
