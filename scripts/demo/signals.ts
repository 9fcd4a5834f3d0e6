const SAME_KEY_PRESS_MS = 1_000

/**
 * Resolves at the first signal to stop. One key press may come twice, from the terminal and through npm, so only a
 * signal that comes later means that the user is tired of waiting.
 */
export function stopAsked(onImpatience: () => void): Promise<void> {
  return new Promise((resolve) => {
    let firstAt: number | undefined
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(signal, () => {
        firstAt ??= performance.now()
        if (performance.now() - firstAt > SAME_KEY_PRESS_MS) onImpatience()
        resolve()
      })
    }
  })
}
