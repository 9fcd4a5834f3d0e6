/**
 * Returns the name that differs from a text by the fewest letters. Returns undefined if every name differs by more
 * than two letters and by more than a third of the text.
 */
export function findNearest(text: string, names: readonly string[]): string | undefined {
  const [wanted, lettersMax] = [toLetters(text), Math.max(2, text.length / 3)]
  // A long text is not a misspelt name, and each comparison costs its length times the length of the name.
  if (wanted.length > 64) return undefined
  const [nearest] = names
    .map((name) => ({ name, letters: countDifferentLetters(wanted, toLetters(name)) }))
    .filter(({ letters }) => letters <= lettersMax)
    .sort((one, other) => one.letters - other.letters)
  return nearest?.name
}

/** Brings a name, a flag and a variable of one setting to the same spelling. */
function toLetters(text: string): string {
  return text.toLowerCase().replace(/^counterstep_|[-_]/g, '')
}

/**
 * Counts the letters that have to be added, left out or replaced to turn one text into the other (Levenshtein's
 * distance).
 */
function countDifferentLetters(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at)
  for (const [at, letter] of [...one].entries()) {
    const next = [at + 1]
    for (let to = 0; to < other.length; to++) {
      const kept = (row[to] ?? 0) + (letter === other[to] ? 0 : 1)
      next.push(Math.min(kept, (row[to + 1] ?? 0) + 1, (next[to] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
