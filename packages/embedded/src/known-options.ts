/** Throws for a name that is none of these: a misspelled bound would quietly be none. */
export function refuseUnknown(what: string, given: object, known: readonly string[]): void {
  const unknown = Object.keys(given).filter((name) => !known.includes(name))
  if (unknown.length === 0) return
  throw new TypeError(`${what} has no option ${unknown.join(', ')}; it has ${known.join(', ')}`)
}
