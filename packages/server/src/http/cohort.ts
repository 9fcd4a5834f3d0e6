/**
 * Requests that one turn of the event loop has read are taken one right behind the other, when all of it has been read:
 * code that runs again at once finds its caches warm, and what a store is given together shares a write.
 */
export class Cohort {
  #waiting: (() => void)[] = []

  /** Resolves in the same turn, after its last event, for all that have joined by then, in their order. */
  join(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#waiting.push(resolve) === 1) setImmediate(() => this.#start())
    })
  }

  #start(): void {
    const cohort = this.#waiting
    this.#waiting = []
    for (const resolve of cohort) resolve()
  }
}
