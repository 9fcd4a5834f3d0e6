/**
 * Tells when an answer has been owed for longer than the limit. A connection's answers come in the order of its
 * questions, so only the oldest is looked at, by one timer.
 */
export class AnswerDeadline {
  readonly #limitMs: number
  readonly #onMissed: () => void
  /** By the numbers of the questions, in their order. */
  readonly #owedSince = new Map<number, number>()
  #questions = 0
  #isWatching = false

  constructor(limitMs: number, onMissed: () => void) {
    this.#limitMs = limitMs
    this.#onMissed = onMissed
  }

  /** The number of a question that is sent now. */
  begin(): number {
    const question = this.#questions++
    this.#owedSince.set(question, performance.now())
    if (!this.#isWatching) this.#watchFor(this.#limitMs)
    return question
  }

  /** Also of a question that has ended before. */
  end(question: number): void {
    this.#owedSince.delete(question)
  }

  #watchFor(ms: number): void {
    this.#isWatching = true
    // What has arrived while this process stood still is read before it is judged.
    setTimeout(() => setImmediate(() => this.#look()), ms).unref()
  }

  #look(): void {
    this.#isWatching = false
    const [oldest] = this.#owedSince.values()
    if (oldest === undefined) return
    const leftMs = oldest + this.#limitMs - performance.now()
    if (leftMs > 0) this.#watchFor(leftMs)
    else {
      // They go with their connection, and are not held against the next one.
      this.#owedSince.clear()
      this.#onMissed()
    }
  }
}
