import type { Connection } from './connection.ts'
import { findOrMake } from './find-or-make.ts'
import { HolderQueue } from './holder-queue.ts'

/** A body of at most this size is parsed as soon as it is whole. Most bodies are this small. */
export const SMALL_BODY_BYTES = 4 * 1024
/** One turn of the event loop takes up larger bodies until they have this many bytes in all; it always takes up one. */
const BYTES_PER_TURN_MAX = 64 * 1024

export interface BodyTurnsOptions {
  /** Holds the bytes of a body that waits. `release` is called when the body is taken up. */
  readonly hold: (connection: Connection, bytes: number) => void
  readonly release: (connection: Connection, bytes: number) => void
}

interface WaitingBody {
  readonly bytes: number
  readonly look: () => void
}

/**
 * Gives turns to bodies that are whole. A megabyte of JSON may take a quarter of a second to be read and twenty
 * megabytes of memory meanwhile. So large bodies are taken up one after the other, the holders of their connections
 * take turns, and they use half of the time at most.
 */
export class BodyTurns {
  readonly #options: BodyTurnsOptions
  readonly #queue = new HolderQueue()
  readonly #bodies = new Map<Connection, WaitingBody[]>()
  readonly #known = new WeakSet<Connection>()
  #isArranged = false

  constructor(options: BodyTurnsOptions) {
    this.#options = options
  }

  /** Calls `look` at once or in a later turn. It is never called if its connection ends before. */
  take(connection: Connection, bytes: number, look: () => void): void {
    if (bytes <= SMALL_BODY_BYTES) {
      look()
      return
    }
    this.#watch(connection)
    findOrMake(this.#bodies, connection, () => []).push({ bytes, look })
    this.#queue.add(connection)
    this.#options.hold(connection, bytes)
    this.#arrange()
  }

  #watch(connection: Connection): void {
    if (this.#known.has(connection)) return
    this.#known.add(connection)
    connection.socket.once('close', () => {
      this.#queue.delete(connection)
      this.#bodies.delete(connection)
    })
  }

  #arrange(): void {
    if (this.#isArranged) return
    this.#isArranged = true
    setImmediate(this.#lookAtSome)
  }

  readonly #lookAtSome = (): void => {
    const startedAt = performance.now()
    let bytes = 0
    while (bytes < BYTES_PER_TURN_MAX) {
      const connection = this.#queue.shift()
      if (connection === undefined) break
      bytes += this.#lookAtOne(connection)
    }
    // Other work gets as much time before the next turn.
    setTimeout(() => {
      this.#isArranged = false
      if (this.#queue.size > 0) this.#arrange()
    }, performance.now() - startedAt)
  }

  #lookAtOne(connection: Connection): number {
    const bodies = this.#bodies.get(connection) ?? []
    const body = bodies.shift()
    if (bodies.length === 0) this.#bodies.delete(connection)
    else this.#queue.add(connection)
    if (body === undefined) return 0
    this.#options.release(connection, body.bytes)
    // An earlier request of this connection may have been refused.
    if (!connection.isRefused && !connection.socket.destroyed) body.look()
    return body.bytes
  }
}
