import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { BODY_BYTES_MAX } from '@counterstep/protocol'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest, RequestPayload } from 'fastify'
import { BodyTurns, SMALL_BODY_BYTES } from './body-turns.ts'
import { type Connection, findConnection, rememberName } from './connection.ts'
import type { ConnectionBoundLimits } from './connection-limits.ts'
import { FairTurns } from './fair-turns.ts'
import type { Gate } from './gate.ts'
import { type HolderBound, Holders } from './holders.ts'
import { dropTrailers, findOddity, HEADERS_MAX, isHttp2, OddRequestError } from './odd-request.ts'
import { assertPendingAnswerIsKept, readPendingAnswer } from './pending-answer.ts'
import { refuseConnection } from './refuse-connection.ts'
import { stopParsingOnceRefused } from './stop-parsing.ts'
import { WastedBytes } from './wasted-bytes.ts'

/** Names a bound that was reached, so that a connection was ended. */
export type ReachedBound = HolderBound | 'pipelined-requests' | 'unread-connections' | 'wasted-bytes'

/**
 * Node keeps up to this much of a body before it stops reading from its connection. A smaller body is not counted while
 * it is read: all of them together are bounded by the number of connections, and counting would cost each submit.
 */
const BUFFERED_BYTES_MAX = 64 * 1024
/**
 * Shorter answers are not counted while they are the first that their connection waits for: the number of connections
 * bounds them. One behind another is counted, since a caller may have pipelined hundreds and read none.
 */
const SMALL_ANSWER_CHARACTERS = 16 * 1024
/** An answer that is not read holds its request and what Node keeps for both. */
const ANSWER_OVERHEAD_BYTES = 2 * 1024
/** A call over HTTP/2 holds more, and most of it outside of the heap. */
const CALL_OVERHEAD_BYTES = 10 * 1024
/**
 * Each chunk of a body is a Buffer of its own until the body is whole, so a body in chunks of one byte holds far more
 * than its bytes.
 */
export const CHUNK_OVERHEAD_BYTES = 300
/** One read may bring this many chunks of one byte. */
const CHUNKS_PER_READ_MAX = 11_000
/** A chunk of at most this size costs more than its bytes do: about as much as a request that waits. */
const TINY_CHUNK_BYTES = 64
/** One read may bring 10,000 tiny chunks. After this many, the connection is read from in a later turn. */
const TINY_CHUNKS_PER_READ_MAX = 1_000
/** A refused body in chunks counts as this many requests, since one read may have brought 10,000 of its chunks. */
const REFUSED_CHUNKS_EXCESS = 250
/** A connection that has wasted bytes counts as this many requests, so that new ones of its network come last for a while. */
const WASTED_BYTES_EXCESS = 250

/** Bounds all connections of a process together. Each HTTP API of the process is put behind the same bounds. */
export class ConnectionBounds {
  readonly #holders: Holders
  readonly #turns: FairTurns
  readonly #bodies: BodyTurns
  readonly #wasted: WastedBytes
  readonly #onReached: (bound: ReachedBound) => void
  readonly #answerBytesMax: number
  readonly #byteAccount = {
    hold: (connection: Connection, bytes: number) => this.#holders.hold(connection, bytes),
    release: (connection: Connection, bytes: number) => this.#holders.release(connection, bytes),
  }

  constructor(limits: ConnectionBoundLimits, onReached: (bound: ReachedBound) => void = () => undefined) {
    assertPendingAnswerIsKept()
    this.#onReached = onReached
    this.#answerBytesMax = Math.floor(limits.unreadBodyBytesMax / 2)
    this.#holders = new Holders(limits, (connection, bound) => this.#end(connection, bound))
    this.#turns = new FairTurns({
      perTurnMax: limits.requestsPerTurnMax,
      turnMsMax: limits.turnMsMax,
      waitingMax: limits.pipelinedRequestsMax,
      readBodyBytes: (raw) => Math.min(readAnnouncedBytes(raw.headers), BUFFERED_BYTES_MAX),
      ...this.#byteAccount,
    })
    this.#bodies = new BodyTurns(this.#byteAccount)
    this.#wasted = new WastedBytes(this.#turns.connections, (connection) => {
      this.#turns.countExcess(connection, WASTED_BYTES_EXCESS)
      this.#end(connection, 'wasted-bytes')
    })
  }

  /** Returns how many connections, body bytes and waiting requests are held now. Tests and metrics read it. */
  get held(): { readonly connections: number; readonly bodyBytes: number; readonly requests: number } {
    return {
      connections: this.#holders.connections,
      bodyBytes: this.#holders.bytes,
      requests: this.#turns.waitingCount,
    }
  }

  /** Bounds the connections of a server as soon as they open. Call it before the server listens. */
  boundConnections(server: Server): void {
    // Node keeps no more than about this many of a head that is not whole yet, or of the fields behind a body. Some versions
    // refuse a head with more, others drop the rest. With one more than may be, all refuse it.
    server.maxHeadersCount = HEADERS_MAX + 1
    server.on('connection', (socket: Socket) => {
      const connection = findConnection(socket)
      stopParsingOnceRefused(socket, connection)
      this.#holders.add(connection)
      this.#wasted.watch()
      const hasShownKey = this.#holders.hasShownKey(connection)
      if (!this.#turns.startNew(connection, hasShownKey)) this.#end(connection, 'unread-connections')
    })
    this.#ignoreRefused(server)
    // Node would answer 417 by itself, as often as a caller asks, and no hook would see the request.
    server.on('checkExpectation', ({ socket }: IncomingMessage, response: ServerResponse) => {
      const connection = findConnection(socket)
      this.#turns.countExcess(connection)
      if (connection.isRefused) return
      connection.isRefused = true
      // This answer goes behind the answers that the connection already waits for.
      response.writeHead(417, { connection: 'close', 'content-length': 0 })
      response.end()
    })
  }

  /** Nothing that comes over a refused connection reaches a hook or a route: one read may bring 1,000 more requests. */
  #ignoreRefused(server: Server): void {
    for (const handle of server.listeners('request') as RequestListener[]) {
      server.off('request', handle)
      server.on('request', (request, response) => {
        const connection = findConnection(request.socket)
        if (connection.isRefused) this.#turns.countExcess(connection)
        else handle.call(server, request, response)
      })
    }
  }

  /**
   * Adds the first hook of every request of an app or of a scope. The hook refuses an odd request, ignores what else
   * comes over a connection that was refused, and begins the other requests by turns. Call it before other hooks and
   * routes are added.
   */
  boundRequests(app: FastifyInstance): void {
    app.addHook('onRequest', (request, reply, done) => this.#beginRequest(request, reply, done))
    // Node reads and drops a body that comes after its answer. Each chunk of it costs time, and no bound counts it.
    app.addHook('onSend', (request, reply, payload, done) => {
      if (request.raw.complete === false && hasBody(request.raw)) this.#refuseBody(request, reply)
      const characters = typeof payload === 'string' ? payload.length : 0
      if (characters > SMALL_ANSWER_CHARACTERS || isBehindAnother(request.raw, reply.raw))
        this.holdAnswer(request.raw, reply.raw, characters)
      done(null, payload)
    })
  }

  /**
   * Makes the handler of fastify's own errors end the connection. Fastify calls no hook before it answers a URL that it
   * cannot read, so no bound counts such requests.
   */
  refuseAfterFrameworkErrors(handle: FrameworkErrorHandler): FrameworkErrorHandler {
    return (error, request, reply) => {
      const connection = findConnection(request.raw.socket)
      if (connection.isRefused) {
        this.#turns.countExcess(connection)
        reply.hijack()
        return
      }
      this.#refuseBody(request, reply)
      handle(error, request, reply)
    }
  }

  /** Counts the bytes of a body while it is read. It must be the last of the `preParsing` hooks of a route. */
  readonly countBody = (
    { raw }: FastifyRequest,
    _reply: unknown,
    payload: RequestPayload,
    done: (error: null, payload: RequestPayload) => void,
  ): void => {
    if (isBodyCounted(raw)) this.#countWhileRead(findConnection(raw.socket), payload)
    done(null, payload)
  }

  /**
   * Counts the bytes of an answer until its caller has read it. Node keeps all answers to a caller that reads none, and
   * such a caller may have pipelined many requests before its connection is paused.
   */
  holdAnswer(raw: IncomingMessage, response: ServerResponse, answerBytes: number): void {
    if (!isOnCountedConnection(raw)) return
    const connection = findConnection(raw.socket)
    // An answer is never over the bound by itself, since its caller could then never get it.
    const bytes = Math.min(answerBytes + ANSWER_OVERHEAD_BYTES, this.#answerBytesMax)
    this.#holders.hold(connection, bytes)
    response.once('close', () => this.#holders.release(connection, bytes))
  }

  /** Does the same on a connection that no server of Node's for HTTP/1 has. Call what it returns once the caller has read the answer, or never will. */
  holdMessage(socket: Socket, answerBytes: number): () => void {
    const connection = findConnection(socket)
    const bytes = Math.min(answerBytes + CALL_OVERHEAD_BYTES, this.#answerBytesMax)
    this.#holders.hold(connection, bytes)
    return () => this.#holders.release(connection, bytes)
  }

  /**
   * Lets a body that is whole wait for its turn. It belongs in the `preValidation` hooks of a route whose body is
   * parsed after them.
   */
  readonly waitForBodyTurn = ({ raw, body }: FastifyRequest, _reply: unknown, done: () => void): void => {
    const isLarge = (typeof body === 'string' || Buffer.isBuffer(body)) && body.length > SMALL_BODY_BYTES
    if (!isLarge || !isOnCountedConnection(raw)) done()
    else this.#bodies.take(findConnection(raw.socket), body.length, done)
  }

  /**
   * Records that the request has passed the gate of a route that is not open to all. Returns false if its connection
   * had to end.
   */
  trust(raw: IncomingMessage, caller: string, gate: Gate): boolean {
    if (!isOnCountedConnection(raw)) {
      if (!isHttp2(raw)) rememberName(raw, caller)
      return true
    }
    const connection = findConnection(raw.socket)
    this.#holders.trust(connection, caller, gate.knows)
    return !connection.isRefused
  }

  /**
   * Calls `decide`, or `fail`, when the session of a request has been looked for and it is the turn of its connection,
   * unless that ends before. Meanwhile no other request of the connection begins: thousands that look for made-up
   * sessions would all be decided at once, since they wait for one read of the store. Nothing more is read of it either, and the chunks of
   * a body that may have come with the head count as held.
   */
  waitForSession(
    raw: IncomingMessage,
    finding: Promise<void>,
    decide: () => void,
    fail: (error: Error) => void,
  ): void {
    if (!isOnCountedConnection(raw)) {
      finding.then(decide, fail)
      return
    }
    const connection = findConnection(raw.socket)
    const isInChunks = raw.headers['transfer-encoding'] !== undefined
    const heldBytes = isInChunks ? CHUNKS_PER_READ_MAX * CHUNK_OVERHEAD_BYTES : 0
    this.#turns.holdForSession(connection)
    this.#holders.hold(connection, heldBytes)
    const goOn = (next: () => void) =>
      this.#turns.goOn(connection, () => {
        this.#holders.release(connection, heldBytes)
        next()
      })
    finding.then(
      () => goOn(decide),
      (error: Error) => goOn(() => fail(error)),
    )
  }

  /** Counts a connection that no server of Node's for HTTP/1 has. */
  countConnection(socket: Socket): void {
    this.#holders.add(findConnection(socket))
  }

  /** Does what `trust` does for such a connection. Returns the name of its holder, or undefined if it had to end. */
  trustConnection(socket: Socket, caller: string, gate: Gate): string | undefined {
    const connection = findConnection(socket)
    this.#holders.trust(connection, caller, gate.knows)
    return connection.isRefused ? undefined : (connection.holder?.name ?? caller)
  }

  /** Does what `waitForBodyTurn` does for such a connection. A small message begins at once, and none begins when the connection has ended. */
  waitForMessageTurn(socket: Socket, bytes: number, begin: () => void): void {
    this.#bodies.take(findConnection(socket), bytes, begin)
  }

  #beginRequest(request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void {
    const { raw } = request
    if (isHttp2(raw)) {
      done()
      return
    }
    dropTrailers(raw)
    const oddity = findOddity(raw)
    const connection = findConnection(raw.socket)
    this.#wasted.allow(connection, readAnnouncedBytes(raw.headers))
    if (connection.isRefused) {
      this.#turns.countExcess(connection)
      reply.hijack()
    } else if (oddity !== undefined) {
      refuseConnection(request, reply)
      done(new OddRequestError(oddity))
    } else if (!(raw.socket instanceof Socket)) {
      done()
    } else {
      // Node looks at nothing more that such a connection sends, so it would take bytes without an end.
      if (asksForUpgrade(raw) && !hasBody(raw)) reply.header('connection', 'close')
      if (this.#turns.begin(connection, done, raw)) return
      reply.hijack()
      this.#end(connection, 'pipelined-requests')
    }
  }

  #refuseBody(request: FastifyRequest, reply: FastifyReply): void {
    const { raw } = request
    if (raw.headers['transfer-encoding'] !== undefined)
      this.#turns.countExcess(findConnection(raw.socket), REFUSED_CHUNKS_EXCESS)
    refuseConnection(request, reply)
  }

  #countWhileRead(connection: Connection, payload: RequestPayload): void {
    let bodyBytes = 0
    let heldBytes = 0
    let tinyChunks = 0
    const hold = (chunk: Buffer) => {
      bodyBytes += chunk.length
      const chunkBytes = chunk.length + CHUNK_OVERHEAD_BYTES
      heldBytes += chunkBytes
      this.#holders.hold(connection, chunkBytes)
      if (chunk.length < TINY_CHUNK_BYTES) {
        tinyChunks += 1
        this.#turns.countExcess(connection)
        if (tinyChunks % TINY_CHUNKS_PER_READ_MAX === 0) this.#turns.readLater(connection)
      }
      if (bodyBytes > BODY_BYTES_MAX) release()
    }
    // This is also called when a body is over the limit: fastify has refused it then, and its rest is dropped.
    const release = () => {
      payload.off('data', hold)
      payload.off('end', release)
      payload.off('close', release)
      this.#holders.release(connection, heldBytes)
    }
    payload.on('data', hold)
    payload.on('end', release)
    payload.on('close', release)
  }

  #end(connection: Connection, bound: ReachedBound): void {
    connection.isRefused = true
    endWithoutStacks(connection.socket)
    this.#onReached(bound)
  }
}

/**
 * Ends a connection that may have brought 1,000 requests. Node makes an error for each of them when the connection has closed,
 * whose stacks take most of the time and are never read.
 */
function endWithoutStacks(socket: Socket): void {
  let limit = Error.stackTraceLimit
  socket.prependOnceListener('close', () => {
    limit = Error.stackTraceLimit
    Error.stackTraceLimit = 0
  })
  socket.once('close', () => {
    Error.stackTraceLimit = limit
  })
  socket.destroy()
}

/** Tells whether a request has a larger body than may stay unread on a route that reads none. */
export function hasLargeBody({ headers }: IncomingMessage): boolean {
  return readAnnouncedBytes(headers) > SMALL_BODY_BYTES
}

function asksForUpgrade({ headers }: IncomingMessage): boolean {
  return headers.upgrade !== undefined && /\bupgrade\b/i.test(headers.connection ?? '')
}

function hasBody({ headers }: IncomingMessage): boolean {
  return readAnnouncedBytes(headers) > 0
}

/**
 * Tells whether the connection of a request is counted. A connection of HTTP/2 is not, and a request that fastify's
 * `inject` makes has none.
 */
function isOnCountedConnection(raw: IncomingMessage): boolean {
  return !isHttp2(raw) && raw.socket instanceof Socket
}

/** Tells whether the connection of a request waits for an earlier answer. */
function isBehindAnother(request: IncomingMessage, response: ServerResponse): boolean {
  if (!isOnCountedConnection(request)) return false
  const first = readPendingAnswer(request.socket)
  return first !== undefined && first !== response
}

/** Tells whether a body is counted while it is read. Small bodies are not, and one over the limit is never read. */
function isBodyCounted(raw: IncomingMessage): boolean {
  const bytes = readAnnouncedBytes(raw.headers)
  if (bytes <= SMALL_BODY_BYTES || !isOnCountedConnection(raw)) return false
  return bytes <= BODY_BYTES_MAX || bytes === Number.POSITIVE_INFINITY
}

type FrameworkErrorHandler = (error: FastifyError, request: FastifyRequest, reply: FastifyReply) => void

interface BodyHeaders {
  readonly 'content-length'?: string | undefined
  readonly 'transfer-encoding'?: string | undefined
}

/** Returns how long the body says that it is. A body in chunks does not say it, and counts as endless. */
export function readAnnouncedBytes(headers: BodyHeaders): number {
  const length = headers['content-length']
  if (length !== undefined) return Number(length)
  return headers['transfer-encoding'] === undefined ? 0 : Number.POSITIVE_INFINITY
}
