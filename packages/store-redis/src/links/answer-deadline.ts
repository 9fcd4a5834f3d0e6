/**
 * Calls back when an answer has been owed for longer than the limit. A connection's answers come in the order of its
 * questions, so one timer for the oldest question is enough.
 */
export class AnswerDeadline {
  readonly #limitMs: number
  readonly #onMissed: () => void
  /** The start of each question by its number, in order. */
  readonly #owedSince = new Map<number, number>()
  #questions = 0
  #isWatching = false

  constructor(limitMs: number, onMissed: () => void) {
    this.#limitMs = limitMs
    this.#onMissed = onMissed
  }

  /** Returns the number of a question that is sent now. */
  begin(): number {
    const question = this.#questions++
    this.#owedSince.set(question, performance.now())
    if (!this.#isWatching) this.#watchFor(this.#limitMs)
    return question
  }

  /** Does nothing for a question that has ended before. */
  end(question: number): void {
    this.#owedSince.delete(question)
  }

  #watchFor(ms: number): void {
    this.#isWatching = true
    // The process may have stood still. Answers that have arrived meanwhile are read before the check.
    setTimeout(() => setImmediate(() => this.#check()), ms).unref()
  }

  #check(): void {
    this.#isWatching = false
    const [oldest] = this.#owedSince.values()
    if (oldest === undefined) return
    const leftMs = oldest + this.#limitMs - performance.now()
    if (leftMs > 0) this.#watchFor(leftMs)
    else {
      // These questions end with their connection, and must not count against the next one.
      this.#owedSince.clear()
      this.#onMissed()
    }
  }
}
