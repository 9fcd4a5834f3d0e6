import type { Ask } from '../rules/ask.ts'

/**
 * A promise of ctx, which knows whether the function may go on when it ends. The function may do so only where something has
 * subscribed to it: `await`, `Promise.all` and all else call its `then`, because it is no plain promise. The groups that
 * `ctx.all` and `ctx.race` make of it take it by `follow`.
 */
export class WatchedPromise extends Promise<unknown> {
  /** Promises that are derived from it are plain. */
  static override get [Symbol.species](): PromiseConstructor {
    return Promise
  }

  #isAwaited = false
  #isHeard = false
  #isOpen = true
  #failure: { readonly reason: unknown } | undefined
  /** A group was made of these. What awaits it hears of them, too. */
  readonly #members = new Set<WatchedPromise>()
  /** Everything that must have ended when this promise resolves, as far as it is known. */
  readonly needs: ReadonlySet<Ask>

  constructor(executor: ConstructorParameters<typeof Promise<unknown>>[0], needs: ReadonlySet<Ask>) {
    super(executor)
    this.needs = needs
    const close = (): void => {
      this.#isOpen = false
    }
    // The function may await it later than it fails, which Node would take for a failure without a handler.
    super.then(close, (reason: unknown) => {
      close()
      this.#failure = { reason }
    })
  }

  /** Whether the function goes on when this ends. */
  get isAwaited(): boolean {
    return this.#isAwaited && this.#isOpen
  }

  /** Its failure, as long as nothing has waited for it, for a group of it, or for the member that it comes from. */
  get unheardFailure(): { readonly reason: unknown } | undefined {
    const failure = this.#failure
    const isHeard =
      this.#isHeard ||
      [...this.#members].some((each) => each.#isHeard && each.#failure?.reason === failure?.reason)
    return isHeard ? undefined : failure
  }

  follow(): Promise<unknown> {
    return super.then()
  }

  joinGroup(group: WatchedPromise): void {
    group.#members.add(this)
    if (group.#isHeard) this.#hear()
  }

  /** Something waits for it, and so hears of its members, too. */
  #hear(): void {
    if (this.#isHeard) return
    this.#isHeard = true
    for (const member of this.#members) member.#hear()
  }

  // biome-ignore lint/suspicious/noThenProperty: This is the one method by which something waits for a promise.
  override then<Fulfilled = unknown, Rejected = never>(
    onFulfilled?: ((value: unknown) => Fulfilled | PromiseLike<Fulfilled>) | null,
    onRejected?: ((reason: unknown) => Rejected | PromiseLike<Rejected>) | null,
  ): Promise<Fulfilled | Rejected> {
    this.#isAwaited = true
    this.#hear()
    return super.then(onFulfilled, onRejected)
  }
}
