import { Writable } from 'node:stream'

/** Keeps all that is written to it, however much, until it is shown; from then on it passes everything on at once. */
export class HeldOutput extends Writable {
  #target
  #held = []
  #isShown = false

  constructor(target) {
    super()
    this.#target = target
  }

  /** All at once, so that what is written to the target next comes after it. */
  show() {
    this.#isShown = true
    for (const chunk of this.#held.splice(0)) this.#target.write(chunk)
  }

  _write(chunk, _encoding, done) {
    if (this.#isShown) this.#target.write(chunk)
    else this.#held.push(chunk)
    done()
  }
}
