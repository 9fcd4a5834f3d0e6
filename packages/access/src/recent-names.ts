/** So many names are remembered. The oldest is forgotten for a new one. */
const REMEMBERED_MAX = 4_096

/** Remembers names for some time after they were last noted. */
export class RecentNames {
  readonly #keptMs: number
  readonly #nowMs: () => number
  readonly #untilMs = new Map<string, number>()

  constructor(keptMs: number, nowMs: () => number) {
    this.#keptMs = keptMs
    this.#nowMs = nowMs
  }

  note(name: string): void {
    this.#untilMs.delete(name)
    this.#untilMs.set(name, this.#nowMs() + this.#keptMs)
    const [oldest] = this.#untilMs.keys()
    if (this.#untilMs.size > REMEMBERED_MAX && oldest !== undefined) this.#untilMs.delete(oldest)
  }

  has(name: string): boolean {
    const untilMs = this.#untilMs.get(name)
    return untilMs !== undefined && untilMs > this.#nowMs()
  }
}
