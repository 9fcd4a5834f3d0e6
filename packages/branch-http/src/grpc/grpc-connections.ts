import type { ClientHttp2Session } from 'node:http2'
import type { Duplex } from 'node:stream'
import type { Connections } from '../origin.ts'
import { ControlCredit } from './control-credit.ts'
import type { GrpcAttempt, GrpcRequest } from './grpc-attempt.ts'

/** A kept connection without calls is closed after this time. */
const IDLE_MS_MAX = 30_000
const CANCEL = 8
/** A peer that reads nothing keeps a connection that ends no longer than this. */
const END_MS_MAX = 1_000
const HEADER_PAIRS_MAX = 200
/** A service that ends a connection says so once or twice. Each time it may send 16 KiB. */
const GOAWAYS_MAX = 8
/**
 * So many connections are open at once, of which one is for new calls and the others wait for their last ones. A service may end each at its
 * first call. Then further calls wait until one has closed.
 */
export const CONNECTIONS_MAX = 8
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
  readonly socket: Duplex
  readonly credit: ControlCredit
  /** It ends the connection when that has had no calls for long. */
  readonly idle: NodeJS.Timeout
  calls: number
}

interface Waiting {
  readonly attempt: GrpcAttempt
  readonly request: GrpcRequest
}

/** Has one connection to a service, over which all its calls go at once. A new one is made when it has ended. */
export class GrpcConnections implements Connections<GrpcAttempt> {
  readonly #options: SessionOptions
  readonly #connections = new Set<Connection>()
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
    for (const connection of this.#connections) destroyConnection(connection)
    this.#connections.clear()
  }

  #wait(waiting: Waiting): void {
    this.#waiting.add(waiting)
    waiting.attempt.waitForConnection(() => {
      this.#waiting.delete(waiting)
      this.#onCallEnded()
    })
    this.#connectForWaiting()
  }

  #connectForWaiting(): void {
    if (this.#isConnecting || this.#waiting.size === 0 || this.#connections.size >= CONNECTIONS_MAX) return
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
    // A timer of the session's own would hold it until its time, also when it has ended.
    const idle = setTimeout(() => this.#endIdle(connection), IDLE_MS_MAX).unref()
    const credit = new ControlCredit(performance.now())
    const connection: Connection = { session, socket, credit, idle, calls: 0 }
    this.#connections.add(connection)
    this.#current = connection
    this.#follow(connection)
    for (const waiting of this.#waiting) {
      this.#waiting.delete(waiting)
      this.#open(connection, waiting.request, waiting.attempt)
    }
  }

  #follow(connection: Connection): void {
    const { session, credit } = connection
    const countControl = () => {
      const standing = credit.takeFrame(performance.now())
      if (standing === 'flood') destroyConnection(connection)
      else if (standing === 'over') this.#replace(connection)
    }
    session.on('ping', countControl)
    session.on('remoteSettings', countControl)
    let goaways = 0
    session.on('goaway', () => {
      goaways++
      this.#replace(connection)
      if (goaways > GOAWAYS_MAX) destroyConnection(connection)
    })
    // Each stream of the session tells its own attempt.
    session.on('error', () => this.#replace(connection))
    session.once('close', () => {
      clearTimeout(connection.idle)
      this.#replace(connection)
      this.#connections.delete(connection)
      if (!this.#isDestroyed) this.#connectForWaiting()
    })
  }

  #endIdle(connection: Connection): void {
    if (connection.calls === 0) closeConnection(connection)
  }

  #open(connection: Connection, request: GrpcRequest, attempt: GrpcAttempt): void {
    if (!attempt.mayBegin()) {
      attempt.leaveUnsent()
      this.#onCallEnded()
      return
    }
    try {
      const stream = connection.session.request(request.metadata)
      connection.calls++
      connection.credit.addCall()
      stream.once('close', () => {
        // A connection that has died silently would take every later call with it.
        if (stream.rstCode !== 0) this.#replace(connection)
        connection.calls--
        if (isUsable(connection.session)) connection.idle.refresh()
        endInTime(connection)
        this.#onCallEnded()
      })
      attempt.send(stream, request.message, () => {
        this.#replace(connection)
        destroyConnection(connection)
      })
    } catch (error: unknown) {
      this.#replace(connection)
      attempt.refuse(error)
      this.#onCallEnded()
    }
  }

  /** The calls that are under way may end over the session. */
  #replace(connection: Connection): void {
    if (this.#current === connection) this.#current = undefined
    closeConnection(connection)
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
    for (const connection of this.#connections) closeConnection(connection)
    this.#onEmpty()
    this.#onEmpty = undefined
  }
}

function isUsable(session: ClientHttp2Session): boolean {
  return !session.closed && !session.destroyed
}

/** The calls that are under way may end. */
function closeConnection(connection: Connection): void {
  if (!isUsable(connection.session)) return
  connection.session.close()
  endInTime(connection)
}

/** Ends a connection that was closed and has no calls, even if the peer reads nothing of what waits to be written. */
function endInTime(connection: Connection): void {
  if (connection.calls > 0 || isUsable(connection.session) || connection.socket.destroyed) return
  setTimeout(() => destroyConnection(connection), END_MS_MAX).unref()
}

/** Ends the calls that are under way. The session alone would wait until all is written. */
function destroyConnection({ session, socket }: Connection): void {
  session.destroy(undefined, CANCEL)
  socket.destroy()
}

function toClosedError(): Error {
  return Object.assign(new Error('the caller was closed'), { code: 'UND_ERR_CLOSED' })
}
