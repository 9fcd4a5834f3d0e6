/** One seeded generator (mulberry32). Each part of a run has its own, so that none depends on another's pace. */
export class SeededRandom {
  #state: number

  constructor(seed: number, part: string) {
    let mixed = seed
    for (const letter of part) mixed = Math.imul(mixed ^ letter.charCodeAt(0), 0x85ebca6b)
    this.#state = Math.imul(mixed ^ 0x9e3779b9, 0xc2b2ae35) >>> 0
  }

  /** Uniform in [0, 1). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }

  /** An integer in [low, high]. */
  between(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1))
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }

  pick<T>(items: readonly T[]): T {
    const item = items[this.between(0, items.length - 1)]
    if (item === undefined) throw new RangeError('nothing to pick from')
    return item
  }

  shuffled<T>(items: readonly T[]): T[] {
    const keyed = items.map((item) => ({ item, key: this.next() }))
    return keyed.sort((one, other) => one.key - other.key).map(({ item }) => item)
  }
}
