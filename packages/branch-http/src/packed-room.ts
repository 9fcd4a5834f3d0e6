/** At most this many bytes of packed answers are held at once, in all. */
export const PACKED_BYTES_MAX = 32 * 1024 * 1024

/**
 * Bounds the bytes of answers that came packed, which must be held until they are whole. One origin may hold at most
 * as many bytes as are still free, so that it gets half of the room if it is alone, and a third beside one other.
 */
export class PackedRoom {
  readonly #heldBy = new Map<string, number>()
  #held = 0

  /** Returns false, and takes nothing, if there is no room for these bytes. */
  take(origin: string, bytes: number): boolean {
    const held = (this.#heldBy.get(origin) ?? 0) + bytes
    if (held > PACKED_BYTES_MAX - this.#held - bytes) return false
    this.#heldBy.set(origin, held)
    this.#held += bytes
    return true
  }

  give(origin: string, bytes: number): void {
    const held = (this.#heldBy.get(origin) ?? 0) - bytes
    if (held > 0) this.#heldBy.set(origin, held)
    else this.#heldBy.delete(origin)
    this.#held -= bytes
  }
}
