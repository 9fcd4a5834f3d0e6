import type { Socket } from 'node:net'

/** A request that waits for a later turn of the event loop. */
export interface WaitingRequest {
  readonly begin: () => void
  /** Bytes of its body that may be held meanwhile. */
  readonly bodyBytes: number
}

/** The state that the bounds keep for one connection of a caller. */
export interface Connection {
  readonly socket: Socket
  /** Whether a request of it has passed the gate of a route that is not open to all. */
  isTrusted: boolean
  /** Whether a request of it was refused: it ends after that answer, and what else it has sent is not looked at. */
  isRefused: boolean
  /** The turn of the event loop in which `begunInTurn` requests of it were begun. */
  turn: number
  begunInTurn: number
  readonly waiting: WaitingRequest[]
  /** Whether nothing more is read from it now; undefined: it was never paused. */
  isPaused: boolean | undefined
  /** Bytes of bodies that are held for it. */
  heldBytes: number
}

/** Where a socket keeps its connection: a look-up in a WeakMap takes longer, and each request makes one. */
const CONNECTION = Symbol('counterstep.connection')

interface KnownSocket extends Socket {
  [CONNECTION]?: Connection
}

/** The connection of a socket, which begins with the first call. */
export function findConnection(socket: Socket): Connection {
  const known = (socket as KnownSocket)[CONNECTION]
  if (known !== undefined) return known
  const connection: Connection = {
    socket,
    isTrusted: false,
    isRefused: false,
    turn: -1,
    begunInTurn: 0,
    waiting: [],
    isPaused: undefined,
    heldBytes: 0,
  }
  ;(socket as KnownSocket)[CONNECTION] = connection
  return connection
}

/** Reads nothing more from a connection, whatever Node's server, which resumes its socket after each request, does. */
export function pauseReading(connection: Connection): void {
  const { socket } = connection
  // The socket of fastify's `inject` is none.
  if (typeof socket.pause !== 'function') return
  if (connection.isPaused === undefined) {
    socket.on('resume', () => {
      if (connection.isPaused === true) socket.pause()
    })
  }
  connection.isPaused = true
  socket.pause()
}

export function resumeReading(connection: Connection): void {
  connection.isPaused = false
  connection.socket.resume()
}
