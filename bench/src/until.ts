import { setTimeout as pause } from 'node:timers/promises'

const LOOK_MS = 10

/** Looks again and again until it sees something. Throws when that takes too long. */
export async function until<T>(
  what: string,
  limitMs: number,
  look: () => Promise<T | undefined>,
  lookMs = LOOK_MS,
): Promise<T> {
  const end = performance.now() + limitMs
  for (;;) {
    const seen = await look()
    if (seen !== undefined) return seen
    if (performance.now() > end) throw new Error(`not within ${limitMs} ms: ${what}`)
    await pause(lookMs)
  }
}
