const BLANKS: ReadonlySet<string> = new Set([' ', '\t'])

/**
 * Strips the spaces and tabs around the value of a header, as HTTP does (RFC 9110, 5.5). `trim` strips more, for example a
 * no-break space, which a header may hold: a changed value would be verified as another one than the service reads.
 */
export function stripBlanks(value: string): string {
  let start = 0
  let end = value.length
  while (start < end && BLANKS.has(value.charAt(start))) start++
  while (end > start && BLANKS.has(value.charAt(end - 1))) end--
  return value.slice(start, end)
}
