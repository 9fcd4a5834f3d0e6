/**
 * Gives each that asks a turn of the event loop of its own, one after the other. What takes some milliseconds then stands between
 * the requests of others, and not before all of them: a service that held 120 answers of 64 KiB and gave them at one instant stopped a
 * server for a second.
 */
export class LoopTurns {
  #last: Promise<void> = Promise.resolve()

  wait(): Promise<void> {
    this.#last = this.#last.then(() => new Promise((resolve) => setImmediate(resolve)))
    return this.#last
  }
}
