import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { isHttp2 } from './odd-request.ts'
import { readPendingAnswer } from './pending-answer.ts'
import { toNetwork } from './to-network.ts'

/** Describes a request that waits for a later turn of the event loop. */
export interface WaitingRequest {
  readonly begin: () => void
  /** This many bytes of its body may be held meanwhile. */
  readonly bodyBytes: number
  /** Its connection has shown a good key, and its body comes in chunks, each of which is held as a Buffer. */
  readonly isInChunks?: boolean
  /** Its connection had shown no good key when it began to wait. */
  readonly isStranger: boolean
  /** It is a decision on a request whose session was looked for, which is answered also if a later request was refused. */
  readonly isDecision?: true
}

/** Holds what the bounds keep for one connection of a caller. */
export interface Connection {
  readonly socket: Socket
  /** The holder is undefined if the connection is not counted, or was ended. */
  holder: Holder | undefined
  /**
   * The caller that last passed the gate over this connection: the id of a key, or an address. It is undefined until a
   * request has passed.
   */
  caller: string | undefined
  /** It is true if a request of the connection has passed the gate since trust was last checked. */
  hasPassed: boolean
  /** A check of trust found `hasPassed` true at this time, in milliseconds since the process began. */
  passedAt: number
  /**
   * It is true once a request was refused: the connection ends after that answer, and what else it sends is ignored.
   */
  isRefused: boolean
  /** It has brought this many requests beyond its share, or what costs as much. */
  excess: number
  /** In this turn of the event loop, `begunInTurn` requests of the connection were begun. */
  turn: number
  begunInTurn: number
  /** The turn of the event loop in which requests that waited were begun. */
  servedInTurn: number
  /** The turn of the event loop in which reading was last resumed after a pause. */
  resumedInTurn: number
  readonly waiting: WaitingRequest[]
  /** The sessions of so many requests are looked for. None that waits begins meanwhile. */
  sessionsSought: number
  /** It is true while nothing more is read from the connection, and undefined if that was never so. */
  isPaused: boolean | undefined
  /** It was paused because as many of its requests waited as may. One read of it may bring thousands. */
  wasFull: boolean
  /** Bodies and answers of the connection hold this many bytes. */
  heldBytes: number
  /** It is ended once it has brought more bytes than this. Each request that it begins raises it. */
  bytesReadMax: number
}

/**
 * Names a holder of connections and bytes: a key, an address that needs none, or an address whose connections have not
 * shown a key yet.
 */
export interface Holder {
  /** The name is the id of the key, or the network of the address. */
  readonly name: string
  /**
   * Tells whether the holder is still good. It is undefined for strangers, whose connections have not passed the gate.
   */
  readonly isGood: (() => boolean) | undefined
  /** The oldest connection is the first. */
  readonly connections: Set<Connection>
  heldBytes: number
}

/** This turn of the event loop never is. */
export const NO_TURN = -1

/** A connection may bring so many bytes beside its requests and their bodies: the next head, and a few empty lines. */
export const WASTED_BYTES_MAX = 64 * 1024

/** A socket keeps its connection under this symbol. A look-up in a WeakMap takes longer, and each request makes one. */
const CONNECTION = Symbol('counterstep.connection')

interface KnownSocket extends Socket {
  [CONNECTION]?: Connection
}

/** Finds the connection of a socket. The first call makes it. */
export function findConnection(socket: Socket): Connection {
  const known = (socket as KnownSocket)[CONNECTION]
  if (known !== undefined) return known
  const connection: Connection = {
    socket,
    holder: undefined,
    caller: undefined,
    hasPassed: false,
    passedAt: 0,
    isRefused: false,
    excess: 0,
    wasFull: false,
    turn: NO_TURN,
    begunInTurn: 0,
    servedInTurn: NO_TURN,
    resumedInTurn: NO_TURN,
    waiting: [],
    sessionsSought: 0,
    isPaused: undefined,
    heldBytes: 0,
    bytesReadMax: WASTED_BYTES_MAX,
  }
  ;(socket as KnownSocket)[CONNECTION] = connection
  return connection
}

/** The names of callers whose requests have passed the gate and have no connection, as on Lambda. */
const NAMES = new WeakMap<IncomingMessage, string>()

export function rememberName(raw: IncomingMessage, caller: string): void {
  NAMES.set(raw, toNetwork(caller))
}

/**
 * Names the caller of a request that has passed the gate: by the id of its key, or by its network. Call it before
 * anything is awaited.
 */
export function readCaller(raw: IncomingMessage): string {
  const holder = isHttp2(raw) ? undefined : findConnection(raw.socket).holder
  return holder?.name ?? NAMES.get(raw) ?? toNetwork(raw.socket.remoteAddress ?? '')
}

/** Tells whether a request of the connection waits for its answer, or for the rest of its body. */
export function isAnswering({ socket }: Connection): boolean {
  return readPendingAnswer(socket) !== undefined
}

/** Reads nothing more from a connection, even when Node's server resumes the socket, as it does after each request. */
export function pauseReading(connection: Connection): void {
  const { socket } = connection
  // The socket that fastify's `inject` gives is not a real one.
  if (typeof socket.pause !== 'function') return
  if (connection.isPaused === undefined) {
    socket.on('resume', () => {
      if (connection.isPaused !== true) return
      socket.pause()
      // Node's HTTP server has begun to read again at this event, and stops only at a 'pause'. A socket that was paused before
      // its first 'resume' tells none, since it has not changed its state.
      socket.emit('pause')
    })
  }
  connection.isPaused = true
  socket.pause()
}

export function resumeReading(connection: Connection): void {
  connection.isPaused = false
  connection.socket.resume()
}
