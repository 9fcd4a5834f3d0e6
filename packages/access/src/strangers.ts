import type { Connection } from './connection.ts'
import { toNetwork } from './to-network.ts'

export interface StrangersOptions {
  /** Connections at once. */
  readonly connectionsMax: number
  /** Connections at once of one address that have not yet shown a good key. */
  readonly perAddressMax: number
}

export type ReachedCount = 'connections' | 'strangers-per-address'

/**
 * Counts connections, and of each address those that have not yet shown a good key: behind a proxy all callers have one
 * address, but they show their keys as soon as they connect, while an attacker without a key never does. Over a bound
 * the oldest one without a key makes room, so that a new caller has the time to show its own.
 */
export class Strangers {
  readonly #connectionsMax: number
  readonly #perAddressMax: number
  /** The oldest first, in all and of each address. */
  readonly #strangers = new Map<Connection, string>()
  readonly #byAddress = new Map<string, Set<Connection>>()
  #connections = 0

  constructor({ connectionsMax, perAddressMax }: StrangersOptions) {
    this.#connectionsMax = connectionsMax
    this.#perAddressMax = Math.min(perAddressMax, Math.ceil(connectionsMax / 2))
  }

  get connections(): number {
    return this.#connections
  }

  /** Counts a new connection until it closes. Says which bound it met, after it has ended what had to end for that. */
  add(connection: Connection): ReachedCount | undefined {
    const { socket } = connection
    const network = toNetwork(socket.remoteAddress ?? '')
    const ofAddress = this.#byAddress.get(network) ?? new Set()
    this.#connections += 1
    this.#byAddress.set(network, ofAddress.add(connection))
    this.#strangers.set(connection, network)
    socket.once('close', () => {
      this.#connections -= 1
      this.trust(connection)
    })
    if (ofAddress.size > this.#perAddressMax) return this.#endFirst(ofAddress, 'strangers-per-address')
    if (this.#connections > this.#connectionsMax) return this.#endFirst(this.#strangers, 'connections')
    return undefined
  }

  /** Those that have not yet shown a good key, the oldest first. */
  all(): Iterable<Connection> {
    return this.#strangers.keys()
  }

  /** Ends the count of a connection as a stranger. */
  trust(connection: Connection): void {
    const network = this.#strangers.get(connection)
    if (network === undefined) return
    this.#strangers.delete(connection)
    const ofAddress = this.#byAddress.get(network)
    ofAddress?.delete(connection)
    if (ofAddress?.size === 0) this.#byAddress.delete(network)
  }

  /** The new one is among them: it ends when all others have shown a key. */
  #endFirst(strangers: { keys(): Iterable<Connection> }, reached: ReachedCount): ReachedCount {
    const [oldest] = strangers.keys()
    if (oldest !== undefined) {
      this.trust(oldest)
      oldest.socket.destroy()
    }
    return reached
  }
}
