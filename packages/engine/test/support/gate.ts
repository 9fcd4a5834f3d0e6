/** Lets callers wait until it is opened. */
export class Gate {
  #isOpen = false
  readonly #waiting: (() => void)[] = []

  get waiting(): number {
    return this.#waiting.length
  }

  pass(): Promise<void> {
    return this.#isOpen ? Promise.resolve() : new Promise((resolve) => this.#waiting.push(resolve))
  }

  open(): void {
    this.#isOpen = true
    for (const resolve of this.#waiting.splice(0)) resolve()
  }
}
