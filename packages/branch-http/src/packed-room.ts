/** At most this many bytes of packed answers are held at once, in all. */
export const PACKED_BYTES_MAX = 32 * 1024 * 1024

/**
 * Bounds the bytes of answers that came packed, which can be read only once they are whole. One origin may hold as much as is left for
 * the others: half of it alone, and a third beside another.
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
