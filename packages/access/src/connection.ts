import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { isHttp2 } from './odd-request.ts'
import { readPendingAnswer } from './pending-answer.ts'
import { toNetwork } from './to-network.ts'

/** A request that waits for a later turn of the event loop. */
export interface WaitingRequest {
  readonly begin: () => void
  /** This many bytes of its body may be held meanwhile. */
  readonly bodyBytes: number
}

/** The state that the bounds keep for one connection of a caller. */
export interface Connection {
  readonly socket: Socket
  /** Undefined: it is not counted, or was ended. */
  holder: Holder | undefined
  /** The caller that passed the gate over it last: the id of a key, or an address. Undefined: no request has passed. */
  caller: string | undefined
  /** Whether a request of it has passed the gate since connections were last looked through. */
  hasPassed: boolean
  /** The last time that this was so, in milliseconds since the process began. */
  passedAt: number
  /** Whether a request of it was refused: it ends after that answer, and what else it has sent is not looked at. */
  isRefused: boolean
  /** The turn of the event loop in which `begunInTurn` requests of it were begun. */
  turn: number
  begunInTurn: number
  /** The turn in which it was last read from again, after it was paused. */
  resumedInTurn: number
  readonly waiting: WaitingRequest[]
  /** Whether nothing more is read from it now; undefined: it was never paused. */
  isPaused: boolean | undefined
  /** Bytes of bodies that are held for it. */
  heldBytes: number
}

/**
 * Names a holder of connections and bytes: a key, an address that needs none, or an address whose connections have not
 * shown a key yet.
 */
export interface Holder {
  /** The id of its key, or its network. */
  readonly name: string
  /** Whether it is still good; undefined: these connections are strangers', which have not passed the gate. */
  readonly isGood: (() => boolean) | undefined
  /** The oldest first. */
  readonly connections: Set<Connection>
  heldBytes: number
}

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
    turn: -1,
    begunInTurn: 0,
    resumedInTurn: -1,
    waiting: [],
    isPaused: undefined,
    heldBytes: 0,
  }
  ;(socket as KnownSocket)[CONNECTION] = connection
  return connection
}

/**
 * Names the caller of a request that has passed the gate: by the id of its key, or by its network. Call it before
 * anything is awaited.
 */
export function readCaller(raw: IncomingMessage): string {
  const holder = isHttp2(raw) ? undefined : findConnection(raw.socket).holder
  return holder?.name ?? toNetwork(raw.socket.remoteAddress ?? '')
}

/** Whether a request of it waits for its answer, or for the rest of its body. */
export function isAnswering({ socket }: Connection): boolean {
  return readPendingAnswer(socket) !== undefined
}

/** Reads nothing more from a connection, whatever Node's server, which resumes its socket after each request, does. */
export function pauseReading(connection: Connection): void {
  const { socket } = connection
  // The socket that fastify's `inject` gives is not a real one.
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
