/**
 * Closes everything that was opened, in the reverse order, even if some of it fails to close. Then it throws all
 * failures at once.
 */
export class Closers {
  readonly #closers: (() => Promise<void>)[] = []
  #closing: Promise<void> | undefined

  add(close: () => Promise<void>): void {
    this.#closers.push(close)
  }

  /** A second call ends together with the first: a process that exits after it would cut what still drains. */
  close(): Promise<void> {
    this.#closing ??= this.#closeAll()
    return this.#closing
  }

  async #closeAll(): Promise<void> {
    const errors: unknown[] = []
    for (const close of this.#closers.splice(0).reverse()) await close().catch((error) => errors.push(error))
    if (errors.length > 0) throw new AggregateError(errors, 'counterstep was not closed cleanly')
  }
}
