interface Cell<Value> {
  value: Value | undefined
}

/**
 * A Map of what comes and goes thousands of times a second: what was taken out of it is let go of at once.
 *
 * V8 gives a Map that is full, or nearly empty, a new table, and leaves in the last one what stood in it, and the way to the
 * new one. Once such a table is among the old objects, whatever stood in it and in all that follow it outlives each quick
 * collection, though nobody can reach it, until a full one. Of this Map only keys and empty cells do: keep the keys short.
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

  /** In the order in which their keys came. */
  values(): Value[] {
    return Array.from(this.#cells.values(), ({ value }) => value as Value)
  }

  keys(): Key[] {
    return [...this.#cells.keys()]
  }
}
