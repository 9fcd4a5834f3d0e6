import type { Connection } from './connection.ts'

/**
 * Counts the bytes of request bodies that are held until they are whole, over all connections. Over the bound the
 * connection that holds the most loses its bytes: a caller with a small body is not the one who pays for large ones.
 */
export class HeldBytes {
  readonly #bytesMax: number
  readonly #onOver: (connection: Connection) => void
  readonly #holders = new Set<Connection>()
  #bytes = 0

  /** `onOver` ends a connection, whose bytes are no longer held. */
  constructor(bytesMax: number, onOver: (connection: Connection) => void) {
    this.#bytesMax = bytesMax
    this.#onOver = onOver
  }

  get bytes(): number {
    return this.#bytes
  }

  hold(connection: Connection, bytes: number): void {
    if (connection.socket.destroyed) return
    connection.heldBytes += bytes
    this.#bytes += bytes
    this.#holders.add(connection)
    while (this.#bytes > this.#bytesMax) this.#dropLargest()
  }

  /** Releases no more than what is held: the bytes of a connection that was ended are released already. */
  release(connection: Connection, bytes: number): void {
    const released = Math.min(bytes, connection.heldBytes)
    connection.heldBytes -= released
    this.#bytes -= released
    if (connection.heldBytes === 0) this.#holders.delete(connection)
  }

  #dropLargest(): void {
    let largest: Connection | undefined
    for (const connection of this.#holders)
      if (largest === undefined || connection.heldBytes > largest.heldBytes) largest = connection
    if (largest === undefined) return
    this.release(largest, largest.heldBytes)
    this.#onOver(largest)
  }
}
