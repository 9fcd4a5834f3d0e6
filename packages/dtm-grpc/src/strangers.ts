import type { Socket } from 'node:net'
import { findOrMake, RecentNames } from '@counterstep/access'

/**
 * So many connections may be open without a good key. They are those of health checks, and those whose first call is on its way. A caller from afar
 * needs its place for a few hundred milliseconds, however many others come meanwhile.
 */
export const STRANGERS_MAX = 1_024
/** A network that has shown a good key is remembered for an hour and while that key is good. A few connections of each keep their places longest. */
const KNOWN_MS_MAX = 3_600_000
const KEPT_PER_KNOWN_NETWORK_MAX = 16
/** All of these have at most half of the places, so that no key keeps out those that have yet to show one. */
const KEPT_MAX = STRANGERS_MAX / 2
/** Such a connection may begin so many calls at once, and as many in each second. */
export const CALLS_PER_SECOND_MAX = 16
/**
 * It may send so many bytes at first, as a client does that begins with TLS, and so many more in each second. The library answers some calls, such as
 * those of a path that is not there, before anything else sees them.
 */
const BYTES_FREE = 16_384
const BYTES_PER_SECOND_MAX = 8_192
const SECOND_MS = 1_000

interface Stranger {
  readonly network: string
  /** The calls that it may begin, and the bytes that it may send, as they were at that instant. */
  callsLeft: number
  bytesLeft: number
  at: number
}

/**
 * Bounds what callers without a key cost. A call over HTTP/2 takes the event loop for a tenth of a millisecond before anything can be
 * refused.
 */
export class Strangers {
  readonly #strangers = new Map<Socket, Stranger>()
  /** The oldest of each comes first. */
  readonly #ofNetworks = new Map<string, Set<Socket>>()
  readonly #knownNetworks: RecentNames

  constructor(nowMs = () => performance.now()) {
    this.#knownNetworks = new RecentNames(KNOWN_MS_MAX, nowMs)
  }

  /** Tells whether a connection of the network has shown a good key lately. */
  isKnown(network: string): boolean {
    return this.#knownNetworks.has(network)
  }

  /** Counts a connection of an address, or of a network of IPv6, that is new or has lost its trust. If there are too many, one is ended. */
  add(socket: Socket, network: string): void {
    const at = performance.now()
    this.#strangers.set(socket, { network, callsLeft: CALLS_PER_SECOND_MAX, bytesLeft: BYTES_FREE, at })
    findOrMake(this.#ofNetworks, network, () => new Set<Socket>()).add(socket)
    if (this.#strangers.size > STRANGERS_MAX) this.#endOne()
  }

  /** A call of a connection of the network has shown a good key, which `isGood` tells of. */
  trust(socket: Socket, network: string, isGood: () => boolean): void {
    this.#knownNetworks.note(network, isGood)
    this.remove(socket)
  }

  /** The connection has ended. */
  remove(socket: Socket): void {
    const stranger = this.#strangers.get(socket)
    if (stranger === undefined) return
    this.#strangers.delete(socket)
    const others = this.#ofNetworks.get(stranger.network)
    others?.delete(socket)
    if (others?.size === 0) this.#ofNetworks.delete(stranger.network)
  }

  /** Counts a call that has shown no good key. Ends the connection, and returns false, if these are too many. */
  countCall(socket: Socket): boolean {
    return this.#take(socket, 1)
  }

  /**
   * Counts bytes that are about to be read, which may hold the first key. Ends the connection, and returns false, if a stranger has sent too many
   * before.
   */
  countBytes(socket: Socket, bytes: number): boolean {
    const mayRead = this.#take(socket, 0)
    const stranger = this.#strangers.get(socket)
    if (stranger !== undefined) stranger.bytesLeft -= bytes
    return mayRead
  }

  #take(socket: Socket, calls: number): boolean {
    const stranger = this.#strangers.get(socket)
    if (stranger === undefined) return !socket.destroyed
    const now = performance.now()
    const seconds = (now - stranger.at) / SECOND_MS
    stranger.at = now
    stranger.callsLeft =
      Math.min(CALLS_PER_SECOND_MAX, stranger.callsLeft + CALLS_PER_SECOND_MAX * seconds) - calls
    stranger.bytesLeft = Math.min(BYTES_FREE, stranger.bytesLeft + BYTES_PER_SECOND_MAX * seconds)
    if (stranger.callsLeft >= 0 && stranger.bytesLeft >= 0) return true
    this.#end(socket)
    return false
  }

  /**
   * Ends the oldest connection of the network that has the most. The few of networks that have shown a good key come last, or first if all of these
   * have too many.
   */
  #endOne(): void {
    const kept: ReadonlySet<Socket>[] = []
    const others: ReadonlySet<Socket>[] = []
    let keptCount = 0
    for (const [network, sockets] of this.#ofNetworks) {
      const isKept = sockets.size <= KEPT_PER_KNOWN_NETWORK_MAX && this.isKnown(network)
      if (isKept) keptCount += sockets.size
      const alike = isKept ? kept : others
      alike.push(sockets)
    }
    const [oldest] = drawLargest(keptCount > KEPT_MAX ? kept : others) ?? []
    if (oldest !== undefined) this.#end(oldest)
  }

  #end(socket: Socket): void {
    this.remove(socket)
    socket.destroy()
  }
}

/** Draws one of those that are the largest, since a caller from afar would never be young enough. Returns undefined if there is none. */
function drawLargest(some: readonly ReadonlySet<Socket>[]): ReadonlySet<Socket> | undefined {
  let largest: ReadonlySet<Socket>[] = []
  let size = 0
  for (const each of some) {
    if (each.size > size) largest = []
    if (each.size >= size) largest.push(each)
    size = Math.max(size, each.size)
  }
  return largest[Math.floor(Math.random() * largest.length)]
}
