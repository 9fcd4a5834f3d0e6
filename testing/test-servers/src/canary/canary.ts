/** No other text of the project has it, so a log line that shows it shows a secret. */
const STEM = 'cAnArY7f3a9c'

/** Makes a secret for one place, so that a leak shows where it comes from. */
export function canary(place: string): string {
  return `${STEM}-${place}`
}

/** Finds the places whose secrets stand in these outputs, in clear or encoded. The outputs have names. */
export function findCanaries(outputs: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(outputs).flatMap(([name, text]) => {
    const plain = [...text.matchAll(new RegExp(`${STEM}-?[\\w-]{0,40}`, 'gi'))].map(
      ([found]) => `${name}: ${found}`,
    )
    const coded = ENCODED.filter((code) => text.includes(code)).map((code) => `${name}: ${code} (encoded)`)
    return [...new Set([...plain, ...coded])]
  })
}

/** The stem as base64 at each of its three alignments, without the characters that neighbours decide, and as hex. */
const ENCODED = [
  Buffer.from(STEM).toString('base64').slice(0, -2),
  Buffer.from(`x${STEM}`).toString('base64').slice(2, -3),
  Buffer.from(`xx${STEM}`).toString('base64').slice(3, -2),
  Buffer.from(STEM).toString('hex'),
]
