import { AsyncLocalStorage } from 'node:async_hooks'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { type ConnectionBounds, type Gate, toNetwork } from '@counterstep/access'
import { PacedSocket } from '@counterstep/branch-http/paced-socket'
import type { GrpcCall } from './grpc-call.ts'
import { type Reader, ReadTurns } from './read-turns.ts'
import { Strangers } from './strangers.ts'

/** A connection that has sent nothing ends after this time. */
export const START_MS_MAX = 10_000

/** One connection has so many calls at once that need no key. Anyone may make them. */
export const OPEN_CALLS_MAX = 8

/** The bytes of a larger answer count at once. */
const SMALL_ANSWER_BYTES = 16 * 1024

/**
 * A small answer counts when its call has not closed after this time. Thousands may be given in one turn of the event loop, such as
 * by one write of the store, and their clients take them at once.
 */
export const UNTAKEN_MS = 250

/** One connection of a caller. */
export interface CallConnection {
  readonly socket: Socket
  /** Its address, or the network of an IPv6 address. */
  readonly network: string
  /** Holders take turns to be read from. This is the network, or the caller once that is known. */
  holder: string
  /** Tells whether the key, or the address, with which a call of it has passed the gate is still good. A stranger's has none. */
  isGood: (() => boolean) | undefined
  /** So many calls that need no key have not ended. */
  openCalls: number
}

/** Holds the connections, and finds the one of a call: its async context, since the library names it by its address alone. */
export class Connections {
  readonly #bounds: ConnectionBounds
  readonly #open = new Set<CallConnection>()
  readonly #current = new AsyncLocalStorage<CallConnection>()
  readonly #strangers = new Strangers()
  readonly #turns = new ReadTurns()

  constructor(bounds: ConnectionBounds) {
    this.#bounds = bounds
  }

  get size(): number {
    return this.#open.size
  }

  /** Counts the connection until it closes, and gives it to `serve`, unless it has ended already. */
  add(socket: Socket, serve: (stream: Duplex) => void): void {
    const { remoteAddress } = socket
    if (remoteAddress === undefined) {
      socket.destroy()
      return
    }
    this.#bounds.countConnection(socket)
    if (socket.destroyed) return
    const network = toNetwork(remoteAddress)
    const connection = { socket, network, holder: network, isGood: undefined, openCalls: 0 }
    this.#open.add(connection)
    this.#strangers.add(socket, network)
    socket.once('close', () => {
      this.#open.delete(connection)
      this.#strangers.remove(socket)
    })
    this.#startInTurn(connection, serve)
  }

  /** Begins HTTP/2, which takes a part of a millisecond, when the connection has sent something and it is its turn. */
  #startInTurn(connection: CallConnection, serve: (stream: Duplex) => void): void {
    const { socket } = connection
    const reader = this.#toReader(connection, () => {
      socket.setTimeout(0)
      this.#current.run(connection, () => serve(this.#pace(connection)))
    })
    socket.setTimeout(START_MS_MAX, () => socket.destroy())
    socket.once('readable', () => this.#turns.add(reader))
    socket.once('close', () => this.#turns.delete(reader))
  }

  #pace(connection: CallConnection): PacedSocket {
    const { socket } = connection
    const reader = this.#toReader(connection, () => paced.readSome())
    const paced = new PacedSocket(socket, {
      onWaiting: () => this.#turns.add(reader),
      onClosed: () => this.#turns.delete(reader),
      // A connection whose key is no longer good is a stranger's by now: its reader has just been asked.
      mayRead: (bytes) => this.#strangers.countBytes(socket, bytes),
      endsWhole: true,
    })
    return paced
  }

  #toReader(connection: CallConnection, readSome: () => void): Reader {
    const isKnown = () => this.#isTrusted(connection) || this.#strangers.isKnown(connection.network)
    return {
      get holder() {
        return connection.holder
      },
      get isKnown() {
        return isKnown()
      },
      readSome,
    }
  }

  /** Tells whether a connection has shown a key that is good. It is a stranger's again once that is revoked or has expired. */
  #isTrusted(connection: CallConnection): boolean {
    const { isGood, network, socket } = connection
    if (isGood === undefined) return false
    if (isGood()) return true
    connection.isGood = undefined
    connection.holder = network
    if (!socket.destroyed) this.#strangers.add(socket, network)
    return false
  }

  /** Returns the connection of a call whose head has just come. It is undefined if it has ended. */
  find(): CallConnection | undefined {
    const connection = this.#current.getStore()
    return connection !== undefined && this.#open.has(connection) ? connection : undefined
  }

  /** Records that a call has passed the gate. Returns the name of its caller, or undefined if the connection had to end. */
  trust(connection: CallConnection, caller: string, gate: Gate): string | undefined {
    const name = this.#bounds.trustConnection(connection.socket, caller, gate)
    if (name === undefined) return undefined
    connection.holder = name
    this.acquaint(connection, () => gate.knows(caller))
    return name
  }

  /** Records that a call of the connection may be made, which is no call that anyone may make. */
  acquaint(connection: CallConnection, isGood = () => true): void {
    connection.isGood = isGood
    this.#strangers.trust(connection.socket, connection.network, isGood)
  }

  /** Counts a call that has shown no good key. Returns false if the connection had to end. */
  countStrangerCall(connection: CallConnection): boolean {
    const { socket } = connection
    return this.#isTrusted(connection) ? !socket.destroyed : this.#strangers.countCall(socket)
  }

  /** Counts a call that needs no key until nothing of it is held. Returns false if the connection has too many of them. */
  holdOpenCall(connection: CallConnection, call: Pick<GrpcCall, 'onClosed'>): boolean {
    if (connection.openCalls >= OPEN_CALLS_MAX) return false
    connection.openCalls++
    call.onClosed(() => {
      connection.openCalls--
    })
    return true
  }

  /** Calls `begin` when it is the turn of a message of so many bytes to be decoded: large ones take turns with the bodies of the HTTP APIs. */
  waitForMessageTurn({ socket }: CallConnection, bytes: number, begin: () => void): void {
    this.#bounds.waitForMessageTurn(socket, bytes, begin)
  }

  /** Counts an answer until its call has closed, for the bound on what callers do not read. */
  holdAnswer({ socket }: CallConnection, call: Pick<GrpcCall, 'onClosed'>, bytes: number): void {
    const hold = () => call.onClosed(this.#bounds.holdMessage(socket, bytes))
    if (bytes > SMALL_ANSWER_BYTES) {
      hold()
      return
    }
    const timer = setTimeout(hold, UNTAKEN_MS).unref()
    call.onClosed(() => clearTimeout(timer))
  }

  /** Ends a connection over which no call has passed the gate, or none with a key that is still good. */
  endStranger(connection: CallConnection): void {
    if (!this.#isTrusted(connection)) connection.socket.destroy()
  }

  destroyAll(): void {
    for (const { socket } of this.#open) socket.destroy()
  }
}
