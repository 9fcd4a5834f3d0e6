/** A binary heap that returns the smallest key first. */
export class MinHeap<T> {
  readonly #keys: number[] = []
  readonly #values: T[] = []

  get size(): number {
    return this.#keys.length
  }

  get firstKey(): number | undefined {
    return this.#keys[0]
  }

  push(key: number, value: T): void {
    let position = this.#keys.length
    while (position > 0) {
      const parent = (position - 1) >> 1
      if ((this.#keys[parent] as number) <= key) break
      this.#move(parent, position)
      position = parent
    }
    this.#keys[position] = key
    this.#values[position] = value
  }

  /** Removes the value of the smallest key. The result is undefined when the heap is empty. */
  pop(): T | undefined {
    const first = this.#values[0]
    const key = this.#keys.pop()
    const value = this.#values.pop() as T
    if (key !== undefined && this.#keys.length > 0) this.#sink(key, value)
    return first
  }

  #sink(key: number, value: T): void {
    const size = this.#keys.length
    let position = 0
    for (;;) {
      let child = position * 2 + 1
      if (child >= size) break
      if (child + 1 < size && (this.#keys[child + 1] as number) < (this.#keys[child] as number)) child++
      if ((this.#keys[child] as number) >= key) break
      this.#move(child, position)
      position = child
    }
    this.#keys[position] = key
    this.#values[position] = value
  }

  #move(from: number, to: number): void {
    this.#keys[to] = this.#keys[from] as number
    this.#values[to] = this.#values[from] as T
  }
}
