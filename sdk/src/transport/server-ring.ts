import type { UnavailableError } from '../errors.ts'
import type { Exchange } from './exchange.ts'

export interface Server {
  readonly origin: string
  readonly exchange: Exchange
}

/**
 * These are the servers of one client in their order, the first one behind the last. All its calls go to the same
 * one.
 */
export class ServerRing {
  readonly #servers: readonly [Server, ...Server[]]
  #current = 0

  constructor(servers: readonly [Server, ...Server[]]) {
    this.#servers = servers
  }

  current(): Server {
    return this.#servers[this.#current] ?? this.#servers[0]
  }

  /**
   * One of many calls that a server has failed at once moves on; if each did, they would pass by a server that is
   * there.
   */
  leave(server: Server): void {
    if (server === this.current()) this.#current = (this.#current + 1) % this.#servers.length
  }
}

/**
 * Tells whether another server may answer otherwise: there was no answer, or it came from a server that cannot serve
 * now, or from a proxy that does not reach it.
 */
export function mayServeElsewhere({ status }: UnavailableError): boolean {
  return status === undefined || status === 502 || status === 503 || status === 504
}
