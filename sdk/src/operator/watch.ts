import type { TransactionView } from '@counterstep/protocol'
import type { Setup } from '../setup.ts'
import { sleep } from '../sleep.ts'
import { fetchTransaction, isFinal, readTransaction } from '../transaction.ts'
import { type LiveOpener, SILENCE_MS_MAX } from './live-stream.ts'
import { readEvents } from './read-events.ts'

/** A server without a stream, or whose streams are all in use, is asked this often. */
const POLL_MS = 2_000
/** After a refusal a stream is asked for again when this time is over. */
const REFUSED_MS = 30_000

/**
 * These are the options of a watch.
 *
 * @example
 * ```ts
 * const options: WatchOptions = { signal: AbortSignal.timeout(60_000) }
 * ```
 */
export interface WatchOptions {
  /** Ends the watch, which rejects with the signal's reason. */
  readonly signal?: AbortSignal
}

export interface Watched {
  readonly setup: Setup
  readonly openLive: LiveOpener
  readonly gid: string
}

/** Yields each view that differs from the one before, until the transaction is final. */
export async function* watch(
  watched: Watched,
  { signal = new AbortController().signal }: WatchOptions,
): AsyncGenerator<TransactionView, void, undefined> {
  let shown = ''
  for await (const view of readViews(watched, signal)) {
    const text = JSON.stringify(view)
    if (text === shown) continue
    shown = text
    yield view
    if (isFinal(view)) return
  }
}

async function* readViews(
  watched: Watched,
  signal: AbortSignal,
): AsyncGenerator<TransactionView, void, undefined> {
  let streamFrom = 0
  for (;;) {
    // The stream of a gid that does not exist would stay silent, so the transaction is looked at first.
    yield await fetchTransaction(watched.setup, watched.gid, { signal })
    if (performance.now() >= streamFrom) {
      const outcome = yield* followStream(watched, signal)
      if (outcome === 'absent') streamFrom = Number.POSITIVE_INFINITY
      if (outcome === 'refused') streamFrom = performance.now() + REFUSED_MS
    }
    await sleep(POLL_MS, signal)
  }
}

async function* followStream(
  { openLive, setup, gid }: Watched,
  signal: AbortSignal,
): AsyncGenerator<TransactionView, 'absent' | 'refused' | 'ended', undefined> {
  const silence = new AbortController()
  const restart = () => setTimeout(() => silence.abort(), SILENCE_MS_MAX)
  let timer = restart()
  let isOpen = false
  const heard = () => {
    clearTimeout(timer)
    timer = restart()
  }
  try {
    const path = `/v1/live?gid=${encodeURIComponent(gid)}`
    const either = AbortSignal.any([signal, silence.signal])
    const stream = await openLive(path, either)
    if (typeof stream === 'string') return stream
    isOpen = true
    const reading = { charactersMax: setup.answerBytesMax, onBytes: heard, signal: either }
    for await (const { name, data } of readEvents(stream, reading)) {
      if (name === 'view') yield readTransaction(JSON.parse(data), gid)
    }
    return 'ended'
  } catch {
    // The transaction is looked at again after a stream that broke, whatever broke it, unless the caller has ended it.
    signal.throwIfAborted()
    return isOpen ? 'ended' : 'refused'
  } finally {
    clearTimeout(timer)
  }
}
