/** Throws unless all counts of what should be one number are that number. */
export function checkEqual(counts: Readonly<Record<string, number>>): void {
  if (new Set(Object.values(counts)).size > 1) {
    throw new Error(`counts that must be equal are not: ${JSON.stringify(counts)}`)
  }
}
