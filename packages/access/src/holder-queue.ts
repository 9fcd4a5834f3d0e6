import type { Connection, Holder } from './connection.ts'
import { findOrMake } from './find-or-make.ts'

/**
 * Queues connections that wait for a turn. Their holders take turns, so a holder with thousands of connections delays
 * another holder by only one of them.
 */
export class HolderQueue {
  /** The first holder has the next turn. */
  readonly #byHolder = new Map<Holder | undefined, Set<Connection>>()
  /** It maps each connection to the holder that it had when it was added. */
  readonly #holders = new Map<Connection, Holder | undefined>()

  get size(): number {
    return this.#holders.size
  }

  has(connection: Connection): boolean {
    return this.#holders.has(connection)
  }

  count(holder: Holder | undefined): number {
    return this.#byHolder.get(holder)?.size ?? 0
  }

  add(connection: Connection): void {
    if (this.#holders.has(connection)) return
    const { holder } = connection
    this.#holders.set(connection, holder)
    findOrMake(this.#byHolder, holder, () => new Set<Connection>()).add(connection)
  }

  delete(connection: Connection): void {
    if (!this.#holders.has(connection)) return
    const holder = this.#holders.get(connection)
    this.#holders.delete(connection)
    const others = this.#byHolder.get(holder)
    others?.delete(connection)
    if (others?.size === 0) this.#byHolder.delete(holder)
  }

  /** Takes the oldest connection of the holder whose turn it is. */
  shift(): Connection | undefined {
    const [[holder, connections] = []] = this.#byHolder
    const [connection] = connections ?? []
    if (connection === undefined || connections === undefined) return undefined
    this.delete(connection)
    // The holder goes behind all others.
    if (this.#byHolder.delete(holder)) this.#byHolder.set(holder, connections)
    return connection
  }
}
