/**
 * Returns a function that runs `run`, one run after the other. All who call while a run is under way share the next one,
 * so each gets a run that has begun after its call.
 */
export function shareNextRun(run: () => Promise<void>): () => Promise<void> {
  let ended = Promise.resolve()
  let next: Promise<void> | undefined
  async function runNext(): Promise<void> {
    await ended
    next = undefined
    const running = run()
    ended = running.catch(() => undefined)
    await running
  }
  return function ask() {
    next ??= runNext()
    return next
  }
}
