import type { Socket } from 'node:net'
import { type ConnectionBounds, type Gate, toNetwork } from '@counterstep/access'
import { Strangers } from './strangers.ts'

/** Finds the connection of a call, which the library names by its address and port alone. */
export class Connections {
  readonly #bounds: ConnectionBounds
  readonly #sockets = new Map<string, Socket>()
  readonly #trusted = new WeakSet<Socket>()
  readonly #strangers = new Strangers()

  constructor(bounds: ConnectionBounds) {
    this.#bounds = bounds
  }

  get size(): number {
    return this.#sockets.size
  }

  /** Counts the connection until it closes. Returns false if it has ended already. */
  add(socket: Socket): boolean {
    const { remoteAddress, remotePort } = socket
    if (remoteAddress === undefined || remotePort === undefined) return false
    const name = `${remoteAddress}:${remotePort}`
    this.#sockets.set(name, socket)
    socket.once('close', () => {
      if (this.#sockets.get(name) === socket) this.#sockets.delete(name)
      this.#strangers.remove(socket)
    })
    this.#bounds.countConnection(socket)
    if (!socket.destroyed) this.#strangers.add(socket, toNetwork(remoteAddress))
    return !socket.destroyed
  }

  find(peer: string): Socket | undefined {
    return this.#sockets.get(peer)
  }

  /** Records that a call has passed the gate. Returns the name of its caller, or undefined if the connection had to end. */
  trust(socket: Socket, caller: string, gate: Gate): string | undefined {
    const name = this.#bounds.trustConnection(socket, caller, gate)
    if (name !== undefined) this.acquaint(socket)
    return name
  }

  /** Records that a call of the connection may be made, which is no call that anyone may make. */
  acquaint(socket: Socket): void {
    this.#trusted.add(socket)
    this.#strangers.remove(socket)
  }

  /** Counts a call that has shown no good key. Returns false if the connection had to end. */
  countStrangerCall(socket: Socket): boolean {
    return this.#strangers.countCall(socket)
  }

  /** Ends a connection over which no call has passed the gate. */
  endStranger(socket: Socket): void {
    if (!this.#trusted.has(socket)) socket.destroy()
  }

  destroyAll(): void {
    for (const socket of this.#sockets.values()) socket.destroy()
  }
}
