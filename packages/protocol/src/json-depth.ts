/**
 * Tells whether the brackets of a text stand in each other more than this deep. It reads any text, also one that is no JSON, so a
 * program can refuse a value before it reads or writes it by a function that calls itself. The signs are read one by one, because
 * an answer of 64 KiB may have 60,000 brackets, and 32 values that stand in each other.
 */
export function isTooDeep(json: string, depthMax: number): boolean {
  let depth = 0
  for (let at = 0; at < json.length; at++) {
    const sign = json[at]
    if (sign === '"') at = findStringEnd(json, at)
    else if (sign === ']' || sign === '}') depth--
    else if (sign === '[' || sign === '{') {
      depth++
      if (depth > depthMax) return true
    }
  }
  return false
}

/** Finds the closing quote of the string that begins at `start`. A text that is no JSON may lack it: then this is its end. */
export function findStringEnd(json: string, start: number): number {
  let at = start + 1
  while (at < json.length && json[at] !== '"') at += json[at] === '\\' ? 2 : 1
  return at
}
