import type { ServerHttp2Session } from 'node:http2'
import type { Socket } from 'node:net'

/** The connections are looked at after this time, so that each bound below is kept to within it. */
export const CHECK_EVERY_MS = 20_000
/** A connection without calls is ended after this time, and one with calls is asked to end after an hour. */
export const IDLE_MS_MAX = 5 * 60_000
export const AGE_MS_MAX = 60 * 60_000
/** A call that is under way has this long then. It is more than the longest wait of a call. */
export const ENDING_MS_MAX = 75_000

/** One connection over HTTP/2. */
export interface SessionState {
  readonly startedAt: number
  /** It has had no call under way since. It is undefined while it has one. */
  readonly idleSince: number | undefined
  /** Its client has been asked to end it. */
  readonly endingSince: number | undefined
  /** Its client has answered the last ping. */
  readonly isAnswering: boolean
}

/** Decides what becomes of a connection: `end` asks its client to end it, and `cut` ends it with its calls. */
export function judgeSession(state: SessionState, now: number): 'keep' | 'end' | 'cut' {
  const { startedAt, idleSince, endingSince, isAnswering } = state
  if (!isAnswering) return 'cut'
  if (endingSince !== undefined) return now - endingSince >= ENDING_MS_MAX ? 'cut' : 'keep'
  if (now - startedAt >= AGE_MS_MAX) return 'end'
  return idleSince !== undefined && now - idleSince >= IDLE_MS_MAX ? 'end' : 'keep'
}

type Held = { -readonly [Name in keyof SessionState]: SessionState[Name] } & {
  calls: number
  readonly socket: Socket | undefined
}

/** Ends connections whose clients are gone, those that have no calls, and after a time all. */
export class Sessions {
  readonly #held = new Map<ServerHttp2Session, Held>()
  readonly #timer = setInterval(() => this.check(performance.now()), CHECK_EVERY_MS).unref()

  /** A session whose client reads nothing does not end by itself, so that it is cut by its socket. */
  add(session: ServerHttp2Session, socket?: Socket): void {
    const now = performance.now()
    const held: Held = {
      startedAt: now,
      idleSince: now,
      endingSince: undefined,
      isAnswering: true,
      calls: 0,
      socket,
    }
    this.#held.set(session, held)
    endAfterReads(session)
    // Node calls this when its client says that it begins no more calls.
    session.close = () => this.#end(session, held)
    // An error closes the session, and that is all that counts.
    session.on('error', releaseFrames)
    session.once('close', () => this.#held.delete(session))
    session.on('stream', (stream) => {
      held.calls++
      held.idleSince = undefined
      stream.once('close', () => {
        held.calls--
        if (held.calls > 0) return
        held.idleSince = performance.now()
        if (held.endingSince !== undefined) session.destroy()
      })
    })
  }

  /** Asks all clients to open other connections, and ends theirs when their calls have ended, or after this time. */
  drain(ms: number): void {
    for (const [session, held] of this.#held) {
      this.#end(session, held)
      setTimeout(() => session.destroy(), ms).unref()
    }
  }

  close(): void {
    clearInterval(this.#timer)
    for (const session of this.#held.keys()) session.destroy()
  }

  /** Looks at all connections, and asks each whether its client is there. */
  check(now: number): void {
    for (const [session, held] of this.#held) {
      const verdict = judgeSession(held, now)
      if (verdict === 'cut') {
        session.destroy()
        held.socket?.destroy()
      }
      if (verdict === 'end') this.#end(session, held)
      if (verdict === 'keep' && !session.destroyed) this.#ping(session, held)
    }
  }

  #ping(session: ServerHttp2Session, held: Held): void {
    held.isAnswering = false
    session.ping((error) => {
      held.isAnswering = error === null
    })
  }

  /**
   * Tells a client to begin no more calls here, and ends the connection with its last call. Node's own `close` is not used: while it waits for calls, a
   * new one has no stream, as above.
   */
  #end(session: ServerHttp2Session, held: Held): void {
    if (held.endingSince !== undefined || session.destroyed) return
    held.endingSince = performance.now()
    session.goaway()
    // A call that came before in the same read is told of only after it.
    setImmediate(() => {
      if (held.calls === 0) session.destroy()
    })
  }
}

/**
 * Lets the frames of an error's stack go, which V8 does once it has written their text. Those of an error that ends a session hold the session. Its
 * socket leads to the error, and Node leads to the socket for as long as the session stands whose client has confirmed no settings.
 */
function releaseFrames(error: Error): void {
  void error.stack
}

/**
 * Lets a session end only after the read that is under way. Node ends it within the read in which its client has asked for that. In Node 22 a call
 * that comes behind it in the same read has no stream then, and its first byte ends the process.
 */
function endAfterReads(session: ServerHttp2Session): void {
  const destroy = session.destroy.bind(session)
  session.destroy = (...reason) => void setImmediate(() => destroy(...reason))
}
