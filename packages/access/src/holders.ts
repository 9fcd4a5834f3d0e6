import { type Connection, type Holder, isAnswering } from './connection.ts'
import type { ConnectionBoundLimits } from './connection-limits.ts'
import { findOrMake } from './find-or-make.ts'
import { RecentNames } from './recent-names.ts'
import { toNetwork } from './to-network.ts'

/**
 * Connections with a good key take at most this share. The rest stays free for those that have yet to show a key, so
 * that no key keeps an operator out.
 */
const SHARE_OF_TRUSTED = 7 / 8
/**
 * Connections without a good key hold this part of the bytes at most where the others want the rest. A browser that loads the
 * console has no key yet.
 */
const BYTES_SHARE_OF_STRANGERS = 1 / 4
/** A connection is a stranger's again when none of its requests has passed the gate for this long. */
export const TRUST_MS = 75_000
/** New connections of a network that has shown a good key come first for this long. */
const SHOWN_KEY_MS = 3_600_000
/** The trust in connections is checked this often at most. */
const TRUST_CHECK_INTERVAL_MS = 1_000

export type HolderBound = 'connections' | 'strangers-per-address' | 'unread-body-bytes'

type Limits = Pick<ConnectionBoundLimits, 'connectionsMax' | 'strangersPerAddressMax' | 'unreadBodyBytesMax'>

/**
 * Counts the connections of each holder, and the bytes of bodies that are kept until they are whole. Beyond a bound the
 * holder of the most loses a connection, so that a holder within an equal share loses nothing. A new connection takes
 * only the place of a stranger: behind a proxy all callers have one address, but they show their keys as soon as they
 * connect, while an attacker without a key never does.
 */
export class Holders {
  readonly #limits: Limits
  readonly #trustedMax: number
  readonly #onReached: (connection: Connection, bound: HolderBound) => void
  readonly #nowMs: () => number
  readonly #trusted = new Map<string, Holder>()
  readonly #addresses = new Map<string, Holder>()
  /** These are the connections of all addresses that have not passed the gate, the oldest first. */
  readonly #strangers = new Set<Connection>()
  readonly #withKey: RecentNames
  #trustedCount = 0
  #bytes = 0
  #trustCheckedAt = 0

  /** `onReached` has to end the connection, which is no longer counted. */
  constructor(
    limits: Limits,
    onReached: (connection: Connection, bound: HolderBound) => void,
    nowMs = () => performance.now(),
  ) {
    this.#limits = limits
    this.#trustedMax = Math.max(1, Math.floor(limits.connectionsMax * SHARE_OF_TRUSTED))
    this.#onReached = onReached
    this.#nowMs = nowMs
    this.#withKey = new RecentNames(SHOWN_KEY_MS, nowMs)
  }

  get connections(): number {
    return this.#strangers.size + this.#trustedCount
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Counts a new connection until it closes, and ends one if there is no place for it. */
  add(connection: Connection): void {
    this.#endTrust()
    this.#leaveWhenClosed(connection)
    this.#makeStranger(connection)
    if (this.connections > this.#limits.connectionsMax) this.#end(findOldest(this.#strangers), 'connections')
  }

  /** Tells whether another connection of its network has shown a key within the last hour that is still good. */
  hasShownKey({ socket }: Connection): boolean {
    return this.#withKey.has(toNetwork(socket.remoteAddress ?? ''))
  }

  /** Records that a request has passed the gate, with this key or from this address. */
  trust(connection: Connection, caller: string, knows: (caller: string) => boolean): void {
    // Each request comes here, and to ask for the time would cost as much as all the rest of the gate.
    connection.hasPassed = true
    if (connection.caller === caller || connection.socket.destroyed) return
    // A connection of the user's own app has no holder, since it was never added.
    if (connection.holder === undefined) this.#leaveWhenClosed(connection)
    const name = toNetwork(caller)
    this.#move(
      connection,
      findOrMake(this.#trusted, name, () => makeHolder(name, () => knows(name))),
    )
    connection.caller = caller
    this.#noteKey(connection)
    if (this.#trustedCount > this.#trustedMax) {
      const largest = findLargest(this.#trusted.values(), ({ connections }) => connections.size)
      this.#end(findIdle(largest.connections), 'connections')
    }
  }

  /**
   * Holds bytes for a connection. Beyond the bound, the holder of the most bytes loses the one of its connections that
   * holds the most.
   */
  hold(connection: Connection, bytes: number): void {
    if (connection.holder === undefined) return
    connection.heldBytes += bytes
    connection.holder.heldBytes += bytes
    this.#bytes += bytes
    while (this.#bytes > this.#limits.unreadBodyBytesMax) this.#endLargestBody()
  }

  /** Releases no more than what is held: the bytes of a connection that was ended are released already. */
  release(connection: Connection, bytes: number): void {
    const released = Math.min(bytes, connection.heldBytes)
    connection.heldBytes -= released
    this.#bytes -= released
    if (connection.holder !== undefined) connection.holder.heldBytes -= released
  }

  #endLargestBody(): void {
    const readHeldBytes = ({ heldBytes }: { readonly heldBytes: number }) => heldBytes
    const addresses = [...this.#addresses.values()]
    const bytesOfStrangers = addresses.reduce((bytes, { heldBytes }) => bytes + heldBytes, 0)
    const areStrangersOver = bytesOfStrangers > this.#limits.unreadBodyBytesMax * BYTES_SHARE_OF_STRANGERS
    const trusted = [...this.#trusted.values()].filter(({ heldBytes }) => heldBytes > 0)
    const holders = areStrangersOver || trusted.length === 0 ? addresses : trusted
    const { connections } = findLargest(holders, readHeldBytes)
    this.#end(findLargest(connections, readHeldBytes), 'unread-body-bytes')
  }

  /** Notes that the network of a connection has shown a good key. Without a key the holder is the network. */
  #noteKey({ socket, holder }: Connection): void {
    const network = toNetwork(socket.remoteAddress ?? '')
    if (holder?.isGood !== undefined && holder.name !== network) this.#withKey.note(network, holder.isGood)
  }

  /** Makes strangers of connections whose key is no longer good, and of those that have shown no key for too long. */
  #endTrust(): void {
    const now = this.#nowMs()
    if (now - this.#trustCheckedAt < TRUST_CHECK_INTERVAL_MS) return
    this.#trustCheckedAt = now
    for (const { connections, isGood } of this.#trusted.values()) {
      const isKnown = isGood?.() === true
      for (const each of connections) {
        if (each.hasPassed && isKnown) this.#noteKey(each)
        if (each.hasPassed || isAnswering(each)) each.passedAt = now
        each.hasPassed = false
        if (!isKnown || now - each.passedAt > TRUST_MS) this.#makeStranger(each)
      }
    }
  }

  #makeStranger(connection: Connection): void {
    const network = toNetwork(connection.socket.remoteAddress ?? '')
    const address = findOrMake(this.#addresses, network, () => makeHolder(network, undefined))
    this.#move(connection, address)
    // One address never takes more than half of the places that there are for strangers.
    const { connectionsMax, strangersPerAddressMax } = this.#limits
    const max = Math.min(strangersPerAddressMax, Math.ceil((connectionsMax - this.#trustedCount) / 2))
    if (address.connections.size > max) this.#end(findOldest(address.connections), 'strangers-per-address')
  }

  #move(connection: Connection, to: Holder): void {
    const { heldBytes } = connection
    this.#leave(connection)
    connection.holder = to
    to.connections.add(connection)
    if (to.isGood === undefined) this.#strangers.add(connection)
    else this.#trustedCount += 1
    connection.heldBytes = heldBytes
    to.heldBytes += heldBytes
    this.#bytes += heldBytes
  }

  #leave(connection: Connection): void {
    const { holder } = connection
    if (holder === undefined) return
    this.release(connection, connection.heldBytes)
    holder.connections.delete(connection)
    if (holder.isGood === undefined) this.#strangers.delete(connection)
    else this.#trustedCount -= 1
    if (holder.connections.size === 0)
      (holder.isGood === undefined ? this.#addresses : this.#trusted).delete(holder.name)
    connection.holder = undefined
    connection.caller = undefined
  }

  #leaveWhenClosed(connection: Connection): void {
    connection.socket.once('close', () => this.#leave(connection))
  }

  #end(connection: Connection, bound: HolderBound): void {
    this.#leave(connection)
    this.#onReached(connection, bound)
  }
}

function makeHolder(name: string, isGood: Holder['isGood']): Holder {
  return { name, isGood, connections: new Set(), heldBytes: 0 }
}

/** Finds the oldest connection that waits for no answer, or the newest one if all of them wait. */
function findIdle(connections: Iterable<Connection>): Connection {
  let newest: Connection | undefined
  for (const each of connections) {
    if (!isAnswering(each)) return each
    newest = each
  }
  return expectOne(newest)
}

function findOldest(connections: Iterable<Connection>): Connection {
  const [oldest] = connections
  return expectOne(oldest)
}

function findLargest<T>(some: Iterable<T>, readSize: (one: T) => number): T {
  let largest: T | undefined
  for (const each of some) if (largest === undefined || readSize(each) > readSize(largest)) largest = each
  return expectOne(largest)
}

function expectOne<T>(one: T | undefined): T {
  if (one === undefined) throw new Error('a bound was reached, and nothing is held')
  return one
}
