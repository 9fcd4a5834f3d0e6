const LOOK_EVERY_MS = 20

/** Asks again until nothing is waited for any more; `limitMs` only tells stuck from slow. */
export async function until(
  what: string,
  limitMs: number,
  waitingFor: () => Promise<string | undefined>,
): Promise<void> {
  const endAt = Date.now() + limitMs
  for (;;) {
    const reason = await waitingFor()
    if (reason === undefined) return
    if (Date.now() > endAt) throw new Error(`not within ${limitMs} ms: ${what} (${reason})`)
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
  }
}

/** For a server that does not answer yet: the reason is shown if it never does. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
