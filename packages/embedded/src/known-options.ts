/** Throws for an unknown name, because a misspelled bound would otherwise bound nothing without notice. */
export function refuseUnknown(what: string, given: object, known: readonly string[]): void {
  const unknown = Object.keys(given).filter((name) => !known.includes(name))
  if (unknown.length === 0) return
  throw new TypeError(`${what} has no option ${unknown.join(', ')}; it has ${known.join(', ')}`)
}
