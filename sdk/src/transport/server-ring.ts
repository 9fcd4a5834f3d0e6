import type { UnavailableError } from '../errors.ts'
import type { Exchange } from './exchange.ts'

export interface Server {
  readonly origin: string
  readonly exchange: Exchange
}

/**
 * Holds the servers of one client in their order. After the last server comes the first one again. All calls of the
 * client go to the current server.
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
   * Makes the next server the current one. When many calls fail at one server together, only the first of them has this
   * effect. If each had it, the client would skip servers that work.
   */
  leave(server: Server): void {
    if (server === this.current()) this.#current = (this.#current + 1) % this.#servers.length
  }
}

/**
 * Tells whether another server may answer otherwise: there was no answer, or a server answered that it cannot serve
 * now, or a proxy answered that it cannot reach its server.
 */
export function mayServeElsewhere({ status }: UnavailableError): boolean {
  return status === undefined || status === 502 || status === 503 || status === 504
}
