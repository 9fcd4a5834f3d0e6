/** What was opened: last opened, first closed; and all of it, whatever fails on the way. */
export class Closers {
  readonly #closers: (() => Promise<void>)[] = []

  add(close: () => Promise<void>): void {
    this.#closers.push(close)
  }

  async close(): Promise<void> {
    const errors: unknown[] = []
    for (const close of this.#closers.splice(0).reverse()) await close().catch((error) => errors.push(error))
    if (errors.length > 0) throw new AggregateError(errors, 'counterstep was not closed cleanly')
  }
}
