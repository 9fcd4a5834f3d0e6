import type { Socket } from 'node:net'

/**
 * Begins to read from one new connection in each turn of the event loop. The first read of one may bring as many calls as it may have, and takes
 * some milliseconds, so that others come between.
 */
export class StartTurns {
  readonly #start: (socket: Socket) => void
  readonly #waiting = new Set<Socket>()
  #hasTurn = false

  constructor(start: (socket: Socket) => void) {
    this.#start = start
  }

  add(socket: Socket): void {
    this.#waiting.add(socket)
    socket.once('close', () => this.#waiting.delete(socket))
    this.#takeTurn()
  }

  #takeTurn(): void {
    if (this.#hasTurn || this.#waiting.size === 0) return
    this.#hasTurn = true
    setImmediate(() => {
      this.#hasTurn = false
      const [next] = this.#waiting
      if (next === undefined) return
      this.#waiting.delete(next)
      if (!next.destroyed) this.#start(next)
      this.#takeTurn()
    })
  }
}
