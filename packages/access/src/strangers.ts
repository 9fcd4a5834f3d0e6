import type { Connection } from './connection.ts'
import { networkOf } from './network-of.ts'

export interface StrangersOptions {
  /** Connections at once. */
  readonly connectionsMax: number
  /** Connections at once of one address that have not yet shown a good key. */
  readonly perAddressMax: number
}

export type Refused = 'connections' | 'strangers-per-address'

/**
 * Counts connections, and of each address those that have not yet shown a good key: behind a proxy all callers have one
 * address, but they show their keys as soon as they connect, while an attacker without a key never does.
 */
export class Strangers {
  readonly #connectionsMax: number
  readonly #perAddressMax: number
  /** The oldest first. */
  readonly #strangers = new Map<Connection, string>()
  readonly #perAddress = new Map<string, number>()
  #connections = 0

  constructor({ connectionsMax, perAddressMax }: StrangersOptions) {
    this.#connectionsMax = connectionsMax
    this.#perAddressMax = Math.min(perAddressMax, Math.ceil(connectionsMax / 2))
  }

  get connections(): number {
    return this.#connections
  }

  /** Counts a new connection until it closes. Says which bound it met, after it has ended what had to end for that. */
  add(connection: Connection): Refused | undefined {
    const { socket } = connection
    const network = networkOf(socket.remoteAddress ?? '')
    const ofAddress = this.#perAddress.get(network) ?? 0
    this.#connections += 1
    this.#perAddress.set(network, ofAddress + 1)
    this.#strangers.set(connection, network)
    socket.once('close', () => {
      this.#connections -= 1
      this.trust(connection)
    })
    if (ofAddress >= this.#perAddressMax) {
      socket.destroy()
      return 'strangers-per-address'
    }
    if (this.#connections <= this.#connectionsMax) return undefined
    // At the worst the new one itself, when all others have shown a key.
    const [oldest = connection] = this.#strangers.keys()
    this.trust(oldest)
    oldest.socket.destroy()
    return 'connections'
  }

  /** Ends the count of a connection as a stranger. */
  trust(connection: Connection): void {
    const network = this.#strangers.get(connection)
    if (network === undefined) return
    this.#strangers.delete(connection)
    const left = (this.#perAddress.get(network) ?? 1) - 1
    if (left > 0) this.#perAddress.set(network, left)
    else this.#perAddress.delete(network)
  }
}
