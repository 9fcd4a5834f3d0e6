import type { Gid } from '@counterstep/protocol'

/** One after the other for each gid, in the order in which they came. */
export class Turns {
  readonly #last = new Map<Gid, Promise<void>>()

  async take<T>(gid: Gid, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(gid)
    let end = (): void => undefined
    const own = new Promise<void>((resolve) => {
      end = resolve
    })
    this.#last.set(gid, own)
    try {
      if (before !== undefined) await before
      return await work()
    } finally {
      end()
      if (this.#last.get(gid) === own) this.#last.delete(gid)
    }
  }
}
