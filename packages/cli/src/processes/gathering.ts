/** Workers answer in milliseconds. One that does not is not waited for. */
export const GATHER_MS_MAX = 2_000

interface Open {
  readonly wanted: number
  readonly answers: unknown[]
  end(): void
}

/** Collects one answer from each of several processes, for a bounded time. */
export class Gathering {
  readonly #open = new Map<number, Open>()
  readonly #limitMs: number
  #ids = 0

  constructor(limitMs: number) {
    this.#limitMs = limitMs
  }

  /** `ask` sends the question under an id, which each answer has. */
  gather<Answer>(wanted: number, ask: (id: number) => void): Promise<readonly Answer[]> {
    this.#ids += 1
    const id = this.#ids
    return new Promise((resolve) => {
      const answers: Answer[] = []
      const timer = setTimeout(() => this.#open.get(id)?.end(), this.#limitMs)
      const end = () => {
        clearTimeout(timer)
        this.#open.delete(id)
        resolve(answers)
      }
      this.#open.set(id, { wanted, answers, end })
      ask(id)
      if (wanted === 0) end()
    })
  }

  /** An answer that comes too late is dropped. */
  take(id: number, answer: unknown): void {
    const open = this.#open.get(id)
    if (open === undefined) return
    open.answers.push(answer)
    if (open.answers.length === open.wanted) open.end()
  }
}
