/** Allows one fault at a time for each process: a paused one is not killed meanwhile. */
export class Turns {
  readonly #last = new Map<string, Promise<unknown>>()

  async take<T>(name: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(name) ?? Promise.resolve()
    const mine = before.then(work)
    // The next caller waits for the end of this one, even if it failed; its error is this caller's.
    this.#last.set(
      name,
      mine.then(
        () => undefined,
        () => undefined,
      ),
    )
    return await mine
  }
}
