import type { ClientHttp2Session } from 'node:http2'
import type { Duplex } from 'node:stream'
import type { Connections } from '../origin.ts'
import { ControlCredit } from './control-credit.ts'
import type { GrpcAttempt, GrpcRequest } from './grpc-attempt.ts'

/** A kept connection without calls is closed after this time. */
const IDLE_MS_MAX = 30_000
const CANCEL = 8
const HEADER_PAIRS_MAX = 200
/** Requests that wait to be written count for it, too. Node takes megabytes here. */
const SESSION_MIB_MAX = 64

export interface SessionOptions {
  /** Opens a connection that may be used. It is given a bounded time. */
  readonly connect: (callback: (error: Error | undefined, socket?: Duplex) => void) => void
  /** This is `http://HOST:PORT`, or `https://HOST:PORT`. */
  readonly authority: string
  readonly headerBytesMax: number
}

interface Connection {
  readonly session: ClientHttp2Session
  readonly credit: ControlCredit
}

interface Waiting {
  readonly attempt: GrpcAttempt
  readonly request: GrpcRequest
}

/** Has one connection to a service, over which all its calls go at once. A new one is made when it has ended. */
export class GrpcConnections implements Connections<GrpcAttempt> {
  readonly #options: SessionOptions
  readonly #sessions = new Set<ClientHttp2Session>()
  readonly #waiting = new Set<Waiting>()
  #current: Connection | undefined
  #isConnecting = false
  #isDestroyed = false
  #onEmpty: (() => void) | undefined
  #calls = 0

  constructor(options: SessionOptions) {
    this.#options = options
  }

  dispatch(request: GrpcRequest, attempt: GrpcAttempt): void {
    this.#calls++
    const current = this.#current
    if (current !== undefined && isUsable(current.session)) this.#open(current, request, attempt)
    else this.#wait({ attempt, request })
  }

  close(done: () => void): void {
    this.#onEmpty = done
    this.#endWhenEmpty()
  }

  async destroy(): Promise<void> {
    this.#isDestroyed = true
    this.#refuseWaiting(toClosedError())
    for (const session of this.#sessions) session.destroy(undefined, CANCEL)
    this.#sessions.clear()
  }

  #wait(waiting: Waiting): void {
    this.#waiting.add(waiting)
    waiting.attempt.waitForConnection(() => {
      this.#waiting.delete(waiting)
      this.#onCallEnded()
    })
    if (this.#isConnecting) return
    this.#isConnecting = true
    this.#options.connect((error, socket) => {
      this.#isConnecting = false
      if (error !== undefined || socket === undefined) this.#refuseWaiting(error)
      else if (this.#isDestroyed) socket.destroy()
      else this.#use(socket)
    })
  }

  #use(socket: Duplex): void {
    const { authority, headerBytesMax } = this.#options
    const http2 = process.getBuiltinModule('node:http2')
    const session = http2.connect(authority, {
      createConnection: () => socket,
      maxHeaderListPairs: HEADER_PAIRS_MAX,
      maxReservedRemoteStreams: 0,
      maxSessionMemory: SESSION_MIB_MAX,
      settings: { enablePush: false, maxHeaderListSize: headerBytesMax },
    })
    this.#sessions.add(session)
    const connection: Connection = { session, credit: new ControlCredit(performance.now()) }
    this.#current = connection
    this.#follow(connection)
    for (const waiting of this.#waiting) {
      this.#waiting.delete(waiting)
      this.#open(connection, waiting.request, waiting.attempt)
    }
  }

  #follow({ session, credit }: Connection): void {
    const countControl = () => {
      const standing = credit.takeFrame(performance.now())
      if (standing === 'flood') session.destroy(undefined, CANCEL)
      else if (standing === 'over') this.#replace(session)
    }
    session.on('ping', countControl)
    session.on('remoteSettings', countControl)
    session.on('goaway', () => this.#replace(session))
    // Each stream of the session tells its own attempt.
    session.on('error', () => this.#replace(session))
    session.once('close', () => {
      this.#replace(session)
      this.#sessions.delete(session)
    })
    session.setTimeout(IDLE_MS_MAX, () => {
      if (this.#calls === 0) session.close()
    })
  }

  #open({ session, credit }: Connection, request: GrpcRequest, attempt: GrpcAttempt): void {
    try {
      credit.addCall()
      const stream = session.request(request.metadata)
      stream.once('close', () => {
        // A connection that has died silently would take every later call with it.
        if (stream.rstCode !== 0) this.#replace(session)
        this.#onCallEnded()
      })
      attempt.send(stream, request.message)
    } catch (error: unknown) {
      this.#replace(session)
      attempt.refuse(error)
      this.#onCallEnded()
    }
  }

  /** The calls that are under way may end over the session. */
  #replace(session: ClientHttp2Session): void {
    if (this.#current?.session === session) this.#current = undefined
    if (isUsable(session)) session.close()
  }

  #refuseWaiting(error: unknown): void {
    for (const waiting of this.#waiting) {
      this.#waiting.delete(waiting)
      waiting.attempt.refuse(error)
      this.#onCallEnded()
    }
  }

  #onCallEnded(): void {
    this.#calls--
    this.#endWhenEmpty()
  }

  #endWhenEmpty(): void {
    if (this.#onEmpty === undefined || this.#calls > 0) return
    for (const session of this.#sessions) session.close()
    this.#onEmpty()
    this.#onEmpty = undefined
  }
}

function isUsable(session: ClientHttp2Session): boolean {
  return !session.closed && !session.destroyed
}

function toClosedError(): Error {
  return Object.assign(new Error('the caller was closed'), { code: 'UND_ERR_CLOSED' })
}
