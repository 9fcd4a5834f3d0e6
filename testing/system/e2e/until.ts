const LOOK_EVERY_MS = 20

/** Waits for a condition; `limitMs` only tells stuck from slow. */
export async function until(
  what: string,
  limitMs: number,
  holds: () => boolean | Promise<boolean>,
): Promise<void> {
  const end = Date.now() + limitMs
  while (!(await holds())) {
    if (Date.now() > end) throw new Error(`not within ${limitMs} ms: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
  }
}
