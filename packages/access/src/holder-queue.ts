import type { Connection } from './connection.ts'
import { findOrMake } from './find-or-make.ts'
import type { Holder } from './holders.ts'

/** Connections that wait for a turn. Those who hold them take turns, so that one with thousands keeps another waiting for one. */
export class HolderQueue {
  /** The one whose turn comes next is the first. */
  readonly #byHolder = new Map<Holder | undefined, Set<Connection>>()
  /** Who held a connection when it came here. */
  readonly #holders = new Map<Connection, Holder | undefined>()

  get size(): number {
    return this.#holders.size
  }

  has(connection: Connection): boolean {
    return this.#holders.has(connection)
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
    // Behind all other holders.
    if (this.#byHolder.delete(holder)) this.#byHolder.set(holder, connections)
    return connection
  }
}
