import type { Gid } from '@counterstep/protocol'

/** So many are told at once; of the others only their number. */
export const FRESH_MAX = 50

/** Collects what happened to be told soon. Those that come first are kept, so that a flood costs only a counter. */
export class FreshGids {
  #gids = new Set<Gid>()
  #more = 0

  add(gid: Gid): void {
    if (this.#gids.has(gid)) return
    if (this.#gids.size < FRESH_MAX) this.#gids.add(gid)
    else this.#more++
  }

  take(): { readonly gids: readonly Gid[]; readonly more: number } {
    const taken = { gids: [...this.#gids], more: this.#more }
    this.clear()
    return taken
  }

  clear(): void {
    this.#gids = new Set()
    this.#more = 0
  }
}
