/** Calls wait at it until it is opened. */
export class Gate {
  readonly #opened: Promise<void>
  #open: () => void = () => undefined
  #arrived = 0

  constructor() {
    this.#opened = new Promise((resolve) => {
      this.#open = resolve
    })
  }

  /** How many have come to it. */
  get arrived(): number {
    return this.#arrived
  }

  pass(): Promise<void> {
    this.#arrived++
    return this.#opened
  }

  open(): void {
    this.#open()
  }
}
