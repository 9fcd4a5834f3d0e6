interface Cell<Value> {
  value: Value | undefined
}

/**
 * A Map for entries that come and go thousands of times a second. The memory of a removed value is free at once.
 *
 * V8 gives a Map that is full, or nearly empty, a new table. The old table keeps its entries and a pointer to the new
 * one. Once an old table is among V8's old objects, its entries and those of all later tables survive each minor
 * garbage collection until a full one, though no code can reach them. In this Map only keys and empty cells survive
 * so, and keys should therefore be short.
 */
export class ShortLivedMap<Key, Value> {
  readonly #cells = new Map<Key, Cell<Value>>()

  get size(): number {
    return this.#cells.size
  }

  has(key: Key): boolean {
    return this.#cells.has(key)
  }

  get(key: Key): Value | undefined {
    return this.#cells.get(key)?.value
  }

  set(key: Key, value: Value): void {
    const cell = this.#cells.get(key)
    if (cell === undefined) this.#cells.set(key, { value })
    else cell.value = value
  }

  delete(key: Key): void {
    const cell = this.#cells.get(key)
    if (cell === undefined) return
    this.#cells.delete(key)
    cell.value = undefined
  }

  /** Returns the values in the order in which their keys were added. */
  values(): Value[] {
    return Array.from(this.#cells.values(), ({ value }) => value as Value)
  }

  keys(): Key[] {
    return [...this.#cells.keys()]
  }
}
