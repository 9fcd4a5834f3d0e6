/** All who look within this time get the same view, so that many cost no more than one. */
const SHARED_MS = 500

/** Makes a view at most once in half a second. */
export class SharedView<View> {
  readonly #make: () => Promise<View>
  readonly #readMs: () => number
  #view: Promise<View> | undefined
  #madeAt = 0

  constructor(make: () => Promise<View>, readMs: () => number) {
    this.#make = make
    this.#readMs = readMs
  }

  read(): Promise<View> {
    const now = this.#readMs()
    if (this.#view === undefined || Math.abs(now - this.#madeAt) >= SHARED_MS) {
      this.#madeAt = now
      this.#view = this.#make()
    }
    return this.#view
  }
}
