import { OTHER } from '../other-key.ts'
import { MinuteRing } from './minute-ring.ts'

/** A ring of 40 columns takes 9.6 KB, so a full table takes 2 MB. */
export const RINGS_MAX = 200

/**
 * Holds the rings of a bounded number of keys, such as the names of services, each with a ring for each of its parts, such
 * as the ops. When there is no room for one more, those go that have counted nothing for an hour; this is tried once a
 * minute at most, so that a flood of new keys costs little.
 */
export class RingTable<Part extends string> {
  readonly #columns: number
  readonly #rings = new Map<string, Map<Part, MinuteRing>>()
  #size = 0
  #sweptAt = Number.NEGATIVE_INFINITY

  constructor(columns: number) {
    this.#columns = columns
  }

  find(key: string, part: Part, minute: number): MinuteRing {
    return this.#rings.get(key)?.get(part) ?? this.#add(key, part, minute)
  }

  get keys(): Iterable<string> {
    return this.#rings.keys()
  }

  parts(key: string): Iterable<readonly [Part, MinuteRing]> {
    return this.#rings.get(key) ?? []
  }

  #add(key: string, part: Part, minute: number): MinuteRing {
    if (key !== OTHER && this.#size >= RINGS_MAX && !this.#makeRoom(minute))
      return this.find(OTHER, part, minute)
    const ring = new MinuteRing(this.#columns)
    const parts = this.#rings.get(key) ?? new Map<Part, MinuteRing>()
    parts.set(part, ring)
    this.#rings.set(key, parts)
    // The rings of what finds no room have room of their own, since there is one for each part only.
    if (key !== OTHER) this.#size++
    return ring
  }

  #makeRoom(minute: number): boolean {
    if (minute === this.#sweptAt) return false
    this.#sweptAt = minute
    for (const [key, parts] of this.#rings) {
      for (const [part, ring] of parts) {
        if (key === OTHER || !ring.isIdle(minute)) continue
        parts.delete(part)
        this.#size--
      }
      if (parts.size === 0) this.#rings.delete(key)
    }
    return this.#size < RINGS_MAX
  }
}
