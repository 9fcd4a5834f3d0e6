import type { GroupPass } from './group-barrier.ts'

/**
 * Returns a signal that aborts when those of all calls have: the group goes on for a call whose answer still counts. It is
 * undefined if a call has no signal.
 */
export function joinSignals(passes: readonly GroupPass[]): AbortSignal | undefined {
  const joined = new AbortController()
  let leftCount = passes.length
  const countAbort = (): void => {
    leftCount--
    if (leftCount === 0) joined.abort()
  }
  for (const { admitted } of passes) {
    const { signal } = admitted.call
    if (signal === undefined) return undefined
    if (signal.aborted) countAbort()
    else signal.addEventListener('abort', countAbort, { once: true })
  }
  return joined.signal
}
