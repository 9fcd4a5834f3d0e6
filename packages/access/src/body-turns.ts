import type { Connection } from './connection.ts'
import { findOrMake } from './find-or-make.ts'
import { HolderQueue } from './holder-queue.ts'

/** A body of at most this size is parsed as soon as it is whole. Most bodies are this small. */
export const SMALL_BODY_BYTES = 4 * 1024
/** One turn of the event loop begins larger bodies up to this many bytes in all, and always at least one body. */
const BYTES_PER_TURN_MAX = 64 * 1024

export interface BodyTurnsOptions {
  /** Holds the bytes of a body that waits. `release` is called when the body begins. */
  readonly hold: (connection: Connection, bytes: number) => void
  readonly release: (connection: Connection, bytes: number) => void
}

interface WaitingBody {
  readonly bytes: number
  readonly begin: () => void
}

/**
 * Gives turns to bodies that are whole. A megabyte of JSON may take a quarter of a second to be parsed, and twenty
 * megabytes of memory meanwhile. So large bodies begin one after the other, the holders of their connections take
 * turns, and parsing takes half of the time at most.
 */
export class BodyTurns {
  readonly #options: BodyTurnsOptions
  readonly #queue = new HolderQueue()
  readonly #bodies = new Map<Connection, WaitingBody[]>()
  readonly #watched = new WeakSet<Connection>()
  #isTurnPlanned = false

  constructor(options: BodyTurnsOptions) {
    this.#options = options
  }

  /** Calls `begin` at once or in a later turn, unless the connection ends before. */
  take(connection: Connection, bytes: number, begin: () => void): void {
    if (bytes <= SMALL_BODY_BYTES) {
      begin()
      return
    }
    this.#watch(connection)
    findOrMake(this.#bodies, connection, () => []).push({ bytes, begin })
    this.#queue.add(connection)
    this.#options.hold(connection, bytes)
    this.#planTurn()
  }

  #watch(connection: Connection): void {
    if (this.#watched.has(connection)) return
    this.#watched.add(connection)
    connection.socket.once('close', () => {
      this.#queue.delete(connection)
      this.#bodies.delete(connection)
    })
  }

  #planTurn(): void {
    if (this.#isTurnPlanned) return
    this.#isTurnPlanned = true
    setImmediate(this.#beginSome)
  }

  readonly #beginSome = (): void => {
    const startedAt = performance.now()
    let bytes = 0
    while (bytes < BYTES_PER_TURN_MAX) {
      const connection = this.#queue.shift()
      if (connection === undefined) break
      bytes += this.#beginOne(connection)
    }
    // A submit looks at what it has parsed in the next turn of the loop.
    setImmediate(this.#endTurn, startedAt)
  }

  /** Other work gets as much time as the turn took, before the next turn begins. */
  readonly #endTurn = (startedAt: number): void => {
    setTimeout(() => {
      this.#isTurnPlanned = false
      if (this.#queue.size > 0) this.#planTurn()
    }, performance.now() - startedAt)
  }

  #beginOne(connection: Connection): number {
    const bodies = this.#bodies.get(connection) ?? []
    const body = bodies.shift()
    if (bodies.length === 0) this.#bodies.delete(connection)
    else this.#queue.add(connection)
    if (body === undefined) return 0
    this.#options.release(connection, body.bytes)
    // An earlier request of this connection may have been refused.
    if (!connection.isRefused && !connection.socket.destroyed) body.begin()
    return body.bytes
  }
}
