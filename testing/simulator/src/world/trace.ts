/** Keeps a running hash of numbers and, if wanted, lines for people. */
export class Trace {
  readonly lines: string[] = []
  readonly isOn: boolean
  #hash = 0x811c9dc5

  constructor(isOn: boolean) {
    this.isOn = isOn
  }

  get hash(): number {
    return this.#hash >>> 0
  }

  mix(value: number): void {
    const mixed = Math.imul(this.#hash ^ (value | 0), 0x01000193)
    this.#hash = mixed ^ (mixed >>> 15)
  }

  /** Adds a line. Callers must check `isOn` first, so that no text is built in vain. */
  line(at: number, text: string): void {
    this.lines.push(`${String(at).padStart(6)} ${text}`)
  }
}
