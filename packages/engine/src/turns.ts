import type { Gid } from '@counterstep/protocol'

/** One after the other for each gid, in the order in which they came. */
export class Turns {
  readonly #last = new Map<Gid, Promise<void>>()

  /** Resolves when it is one's turn, with what ends it; to end it twice does nothing. */
  async take(gid: Gid): Promise<() => void> {
    const before = this.#last.get(gid)
    let free = (): void => undefined
    const own = new Promise<void>((resolve) => {
      free = resolve
    })
    this.#last.set(gid, own)
    await before
    return () => {
      free()
      if (this.#last.get(gid) === own) this.#last.delete(gid)
    }
  }
}
