/** A promise that knows whether something waits for it. All ways to do so call `then`, an `await` too. */
class WatchedPromise<T> extends Promise<T> {
  /** The promise that `then` makes is a plain one. */
  static override get [Symbol.species](): PromiseConstructor {
    return Promise
  }

  isAwaited = false

  // biome-ignore lint/suspicious/noThenProperty: it is the method of a promise, which this only watches.
  override then<Result = T, Caught = never>(
    onAnswer?: ((answer: T) => Result | PromiseLike<Result>) | null,
    onError?: ((error: unknown) => Caught | PromiseLike<Caught>) | null,
  ): Promise<Result | Caught> {
    this.isAwaited = true
    return super.then(onAnswer, onError)
  }
}

/**
 * Finds the statements of one effect that have failed behind its back: nothing ever waited for their promises. A server such as
 * MySQL undoes such a statement alone, and would commit the rest, with an answer that says that all is done.
 */
export class ForgottenStatements {
  readonly #failed: WatchedPromise<unknown>[] = []

  /** Returns the promise that the effect gets in place of its driver's. */
  watch<T>(answer: PromiseLike<T>): Promise<T> {
    const watched: WatchedPromise<T> = new WatchedPromise<T>((resolve, reject) => {
      answer.then(resolve, (error: unknown) => {
        this.#failed.push(watched)
        reject(error)
      })
    })
    return watched
  }

  /** Tells whether there is such a statement. All statements of the effect have to be answered by then. */
  hasAny(): boolean {
    return this.#failed.some(({ isAwaited }) => !isAwaited)
  }
}
