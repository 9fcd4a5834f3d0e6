import type { GroupPass } from './group-barrier.ts'

export interface JoinedSignals {
  /** It aborts when the signals of all calls have: the group goes on for a call whose answer still counts. */
  readonly signal?: AbortSignal
  /** Leaves nothing on the signals of the calls, which may live as long as the process. */
  readonly release: () => void
}

/** Joins the signals of a group's calls. There is no signal if a call has none. */
export function joinSignals(passes: readonly GroupPass[]): JoinedSignals {
  const signals = passes.flatMap(({ admitted }) => admitted.call.signal ?? [])
  if (signals.length < passes.length) return { release: () => undefined }
  const joined = new AbortController()
  let leftCount = signals.length
  const countAbort = (): void => {
    leftCount--
    if (leftCount === 0) joined.abort()
  }
  for (const signal of signals) {
    if (signal.aborted) countAbort()
    else signal.addEventListener('abort', countAbort, { once: true })
  }
  return {
    signal: joined.signal,
    release: () => {
      for (const signal of signals) signal.removeEventListener('abort', countAbort)
    },
  }
}
