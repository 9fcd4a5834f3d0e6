import type { IncomingMessage } from 'node:http'
import { type Gate, readCaller } from '@counterstep/access'
import type { EngineApi, Watching } from '@counterstep/engine'
import { CounterstepError, LIVE_STREAMS_MAX } from '@counterstep/protocol'
import { toSharedJson } from '../http/shared-json.ts'
import { EventStream } from './event-stream.ts'
import type { LiveQuery } from './live-query.ts'

export interface LiveLimits {
  /** One more stream is refused with 503, and its caller asks again and again instead. */
  readonly streamsMax: number
  /** One key has this many of them at most. Without keys, so does one network. */
  readonly streamsPerCallerMax: number
  /** The overview is told this often, and it is looked at who may still read. */
  readonly tickMs: number
  readonly commentEveryMs: number
  /** A stream whose reader takes nothing for this long is ended. */
  readonly fullMsMax: number
  /** A stream ends after this time, and its reader opens another one. */
  readonly ageMsMax: number
}

export const DEFAULT_LIVE_LIMITS: LiveLimits = {
  streamsMax: LIVE_STREAMS_MAX,
  streamsPerCallerMax: 40,
  tickMs: 1_000,
  commentEveryMs: 15_000,
  fullMsMax: 30_000,
  ageMsMax: 900_000,
}

interface Live {
  readonly stream: EventStream
  readonly raw: IncomingMessage
  readonly caller: string
  readonly wantsOverview: boolean
  readonly openedAt: number
  commentedAt: number
  watching: Watching | undefined
}

/** Holds the streams of one HTTP API. Nothing runs while there is none. */
export class LiveStreams {
  readonly #engine: Pick<EngineApi, 'overview' | 'isStopping'>
  readonly #watch: NonNullable<EngineApi['watch']>
  readonly #gate: Pick<Gate, 'allowsScope' | 'findSession'>
  readonly #limits: LiveLimits
  readonly #live = new Set<Live>()
  #timer: NodeJS.Timeout | undefined
  #isTicking = false

  constructor(
    engine: Pick<EngineApi, 'overview' | 'isStopping'>,
    watch: NonNullable<EngineApi['watch']>,
    gate: Pick<Gate, 'allowsScope' | 'findSession'>,
    limits: LiveLimits,
  ) {
    this.#engine = engine
    this.#watch = watch
    this.#gate = gate
    this.#limits = limits
  }

  get size(): number {
    return this.#live.size
  }

  /** Opens a stream. It begins with all that it tells. Throws SAGA_TOO_MANY_STREAMS. */
  open({ topics, gids }: LiveQuery, raw: IncomingMessage): EventStream {
    const caller = readCaller(raw)
    this.#refuseTooMany(caller)
    const stream = new EventStream(() => live.watching?.refresh())
    const now = performance.now()
    const wantsOverview = topics.has('overview')
    const live: Live = {
      stream,
      raw,
      caller,
      wantsOverview,
      openedAt: now,
      commentedAt: now,
      watching: undefined,
    }
    this.#live.add(live)
    stream.once('close', () => this.#forget(live))
    stream.comment()
    if (wantsOverview) void this.#tellOverview([live])
    live.watching = this.#watch.open({
      caller,
      gids,
      wantsFresh: topics.has('fresh'),
      onView: ({ json }) => stream.send('view', json),
      onFresh(summaries, more) {
        stream.send('fresh', JSON.stringify(summaries))
        if (more > 0) stream.send('fresh-more', String(more))
      },
      onEnd: () => stream.end(),
    })
    this.#timer ??= setInterval(() => void this.#tick(), this.#limits.tickMs).unref()
    return stream
  }

  #refuseTooMany(caller: string): void {
    const { streamsMax, streamsPerCallerMax } = this.#limits
    const own = [...this.#live].filter((live) => live.caller === caller).length
    if (this.#live.size < streamsMax && own < streamsPerCallerMax) return
    const message =
      own < streamsPerCallerMax
        ? `this node has ${streamsMax} streams, which is as many as it may have`
        : `this key or network has ${own} streams here, which is as many as it may have`
    throw new CounterstepError('SAGA_TOO_MANY_STREAMS', message)
  }

  /** Ends all streams, since the HTTP API closes. */
  close(): void {
    for (const { stream } of this.#live) stream.end()
  }

  #forget(live: Live): void {
    live.watching?.close()
    this.#live.delete(live)
    if (this.#live.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  async #tick(): Promise<void> {
    for (const live of [...this.#live]) {
      this.#check(live)
      void this.#checkReader(live)
    }
    // An overview that takes longer than the time between two ticks is not asked for again meanwhile.
    if (this.#isTicking) return
    this.#isTicking = true
    await this.#tellOverview([...this.#live].filter(({ wantsOverview }) => wantsOverview))
    this.#isTicking = false
  }

  /** Ends a stream whose key is no longer good, or whose session has ended. */
  async #checkReader({ stream, raw: { headers, socket } }: Live): Promise<void> {
    // The session of a request is looked up once, so another request is made of this one.
    const head = { headers, socket }
    try {
      await this.#gate.findSession?.(head, false)
      if (!this.#gate.allowsScope('read', head)) stream.end()
    } catch {
      // The store, or what finds the keys of an app, is away. So it cannot be told, and the next tick looks again.
    }
  }

  /** Ends a stream that is too old, or whose reader takes nothing. */
  #check(live: Live): void {
    const { stream, raw, openedAt } = live
    const { ageMsMax, fullMsMax, commentEveryMs } = this.#limits
    const now = performance.now()
    if (stream.fullMs >= fullMsMax) raw.socket.destroy()
    else if (now - openedAt >= ageMsMax || this.#engine.isStopping) stream.end()
    else if (now - live.commentedAt >= commentEveryMs) {
      live.commentedAt = now
      stream.comment()
    }
  }

  async #tellOverview(to: readonly Live[]): Promise<void> {
    if (to.length === 0) return
    try {
      const json = toSharedJson(await this.#engine.overview())
      for (const { stream } of to) stream.send('overview', json)
    } catch (error: unknown) {
      // This is a bug. The readers learn of it by the end of their streams, and the route of the overview shows it.
      for (const { stream } of to) stream.destroy(error instanceof Error ? error : new Error(String(error)))
    }
  }
}
