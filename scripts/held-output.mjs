import { Transform } from 'node:stream'

/** What is written to it is kept, however much it is, until it is shown; from then on it goes on at once. */
export class HeldOutput extends Transform {
  #held = []
  #isShown = false

  constructor(target) {
    super()
    this.pipe(target, { end: false })
  }

  show() {
    this.#isShown = true
    for (const chunk of this.#held) this.push(chunk)
    this.#held = []
  }

  _transform(chunk, _encoding, done) {
    if (this.#isShown) this.push(chunk)
    else this.#held.push(chunk)
    done()
  }
}
