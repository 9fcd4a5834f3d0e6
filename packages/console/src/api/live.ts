import type { OverviewView, TransactionView } from '@counterstep/protocol'
import type { QueryClient } from '@tanstack/react-query'
import { useEffect, useSyncExternalStore } from 'react'
import { API_URL } from './api-url.ts'
import { writeAttendance } from './attendance.ts'
import { learnServerTime } from './clock.ts'
import { EventReader, type StreamEvent } from './event-stream.ts'
import { transactionKey } from './queries.ts'
import { writeSessionSecret } from './session-secret.ts'
import { holdPlace } from './stream-places.ts'

/** `live`: the server pushes. `polling`: it does not, so that each screen asks by itself. */
export type LiveState = 'connecting' | 'live' | 'polling'

const RETRY_MS_MIN = 1_000
const RETRY_MS_MAX = 30_000
/** A server without the route may be replaced by one that has it. */
const MISSING_MS = 60_000
/** A tab whose browser has as many streams as it may looks so often for a free place. */
const CROWDED_MS = 5_000
/** A tab that is only passed over keeps its stream. */
const HIDDEN_MS = 5_000
/** On a busy server something is fresh each second. The list is asked less often. */
const FRESH_MS_MIN = 2_000

/** The one stream of this tab. What it brings goes into the query cache, and nowhere else. */
class LiveLink {
  private client: QueryClient | undefined
  private wanted = ''
  private current: AbortController | undefined
  /** Ends when the last stream has given up its place. */
  private running: Promise<void> = Promise.resolve()
  private state: LiveState = 'connecting'
  private askedAt = Number.NEGATIVE_INFINITY
  private readonly listeners = new Set<() => void>()

  start(client: QueryClient): void {
    this.client = client
    let hiding: ReturnType<typeof setTimeout> | undefined
    document.addEventListener('visibilitychange', () => {
      clearTimeout(hiding)
      if (document.hidden) hiding = setTimeout(() => this.current?.abort(), HIDDEN_MS)
      else if (this.current === undefined || this.current.signal.aborted) this.open()
    })
  }

  /** Wants other topics. The stream is opened anew, since a connect begins with whole snapshots. */
  want(query: string): void {
    if (query === this.wanted) return
    this.wanted = query
    this.open()
  }

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }

  readState = (): LiveState => this.state

  private open(): void {
    this.current?.abort()
    if (this.wanted === '') return
    const controller = new AbortController()
    this.current = controller
    this.running = this.running.then(() => this.keepOpen(controller.signal))
  }

  private async keepOpen(signal: AbortSignal): Promise<void> {
    let waitMs = RETRY_MS_MIN
    while (!signal.aborted) {
      const read = () => this.readOnce(signal).catch(() => 'lost' as const)
      const outcome = (await holdPlace(read)) ?? 'crowded'
      if (signal.aborted) return
      this.setState('polling')
      if (outcome === 'crowded') {
        await sleep(CROWDED_MS, signal)
        continue
      }
      waitMs = outcome === 'ended' ? RETRY_MS_MIN : Math.min(waitMs * 2, RETRY_MS_MAX)
      await sleep(outcome === 'missing' ? MISSING_MS : waitMs, signal)
    }
  }

  private async readOnce(signal: AbortSignal): Promise<'ended' | 'missing' | 'lost'> {
    const headers = { accept: 'text/event-stream', ...writeSessionSecret(), ...writeAttendance() }
    const response = await fetch(new URL(`live?${this.wanted}`, API_URL), { headers, signal })
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true
    if (!response.ok || !isStream || response.body === null) {
      await response.body?.cancel()
      return response.status === 503 ? 'lost' : 'missing'
    }
    learnServerTime(response.headers)
    this.setState('live')
    const reader = new EventReader()
    for await (const piece of response.body.pipeThrough(new TextDecoderStream())) {
      for (const event of reader.read(piece)) this.keep(event)
    }
    return 'ended'
  }

  private keep({ name, data }: StreamEvent): void {
    if (name === 'view') {
      const view = JSON.parse(data) as TransactionView
      this.client?.setQueryData(transactionKey(view.gid), view)
    }
    if (name === 'overview') this.client?.setQueryData(['overview'], JSON.parse(data) as OverviewView)
    if (name === 'fresh' && performance.now() - this.askedAt > FRESH_MS_MIN) {
      this.askedAt = performance.now()
      void this.client?.invalidateQueries({ queryKey: ['newest'] })
    }
  }

  private setState(state: LiveState): void {
    if (state === this.state) return
    this.state = state
    for (const listener of this.listeners) listener()
  }
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}

export const liveLink = new LiveLink()

export function useLiveState(): LiveState {
  return useSyncExternalStore(liveLink.subscribe, liveLink.readState)
}

/** A screen says what it wants to hear of while it is shown. */
export function useLive(topics: readonly ('overview' | 'fresh')[], gid?: string): LiveState {
  const query = new URLSearchParams({
    ...(topics.length === 0 ? {} : { topics: topics.join(',') }),
    ...(gid === undefined ? {} : { gid }),
  }).toString()
  useEffect(() => {
    liveLink.want(query)
  }, [query])
  return useLiveState()
}
