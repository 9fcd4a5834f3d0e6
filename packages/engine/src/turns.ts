import type { Gid } from '@counterstep/protocol'

/** Gives turns for each gid, one after the other, in the order in which they were asked for. */
export class Turns {
  readonly #last = new Map<Gid, Promise<void>>()

  /** Waits for a turn, and resolves to a function that ends it. Ending a turn twice does nothing. */
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
