/** Knows what time it is at the server. A clock of this machine that is set wrong, or set anew, changes nothing. */
export class ServerClock {
  #offsetMs: number | undefined

  /** Takes the time that an answer has told. */
  set(at: number): void {
    this.#offsetMs = at - performance.now()
  }

  /** Returns milliseconds from the epoch. Before the first answer they are those of this machine. */
  now(): number {
    return this.#offsetMs === undefined ? Date.now() : Math.round(this.#offsetMs + performance.now())
  }
}
