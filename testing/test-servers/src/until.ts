const LOOK_EVERY_MS = 20

/**
 * Looks again and again until it sees something, which is neither false nor undefined, and returns that. `limitMs` only tells
 * stuck from slow; `what` may be asked for at the end, so that it can say what was seen last.
 */
export async function until<Seen>(
  what: string | (() => string),
  limitMs: number,
  look: () => Promise<Seen | false | undefined> | Seen | false | undefined,
  lookEveryMs = LOOK_EVERY_MS,
): Promise<Seen> {
  const endAt = performance.now() + limitMs
  for (;;) {
    const seen = await look()
    if (seen !== undefined && seen !== false) return seen
    if (performance.now() > endAt) {
      throw new Error(`not within ${limitMs} ms: ${typeof what === 'string' ? what : what()}`)
    }
    await new Promise((resolve) => setTimeout(resolve, lookEveryMs))
  }
}
