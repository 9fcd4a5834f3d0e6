/** No text of ours has it, and a log line that shows it shows a secret. */
const STEM = 'cAnArY7f3a9c'

/** A secret for one place, by which a leak tells where it comes from. */
export function canary(place: string): string {
  return `${STEM}-${place}`
}

/** By name, what a process printed or answered: the places whose secrets stand in it, in clear or written otherwise. */
export function canariesIn(outputs: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(outputs).flatMap(([name, text]) => {
    const plain = [...text.matchAll(new RegExp(`${STEM}-?[\\w-]{0,40}`, 'gi'))].map(
      ([found]) => `${name}: ${found}`,
    )
    const coded = ENCODED.filter((code) => text.includes(code)).map((code) => `${name}: ${code} (encoded)`)
    return [...new Set([...plain, ...coded])]
  })
}

/** Base64 at each of its three alignments, without the characters that neighbours decide; and hex. */
const ENCODED = [
  Buffer.from(STEM).toString('base64').slice(0, -2),
  Buffer.from(`x${STEM}`).toString('base64').slice(2, -3),
  Buffer.from(`xx${STEM}`).toString('base64').slice(3, -2),
  Buffer.from(STEM).toString('hex'),
]
