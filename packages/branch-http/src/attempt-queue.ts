/** An attempt keeps its place in a queue in these fields. */
export interface Queued<A> {
  queuePrevious: A | undefined
  queueNext: A | undefined
  isQueued: boolean
}

/**
 * Attempts leave the queue in the order in which they came. Its owner removes an attempt whose deadline has passed,
 * wherever in the queue that attempt is.
 */
export class AttemptQueue<A extends Queued<A>> {
  #first: A | undefined = undefined
  #last: A | undefined = undefined
  #length = 0

  get length(): number {
    return this.#length
  }

  push(attempt: A): void {
    attempt.isQueued = true
    attempt.queuePrevious = this.#last
    if (this.#last === undefined) this.#first = attempt
    else this.#last.queueNext = attempt
    this.#last = attempt
    this.#length++
  }

  shift(): A | undefined {
    const first = this.#first
    if (first !== undefined) this.remove(first)
    return first
  }

  remove(attempt: A): void {
    if (!attempt.isQueued) return
    const { queuePrevious, queueNext } = attempt
    if (queuePrevious === undefined) this.#first = queueNext
    else queuePrevious.queueNext = queueNext
    if (queueNext === undefined) this.#last = queuePrevious
    else queueNext.queuePrevious = queuePrevious
    attempt.queuePrevious = undefined
    attempt.queueNext = undefined
    attempt.isQueued = false
    this.#length--
  }
}
