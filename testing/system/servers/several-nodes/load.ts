import type { TransactionView } from '@counterstep/protocol'
import type { NamedRequest } from './saga-requests.ts'
import { AnswerCounts, type FinalOptions, submitUntilFinal } from './until-final.ts'

export interface LoadOptions extends Pick<FinalOptions, 'pickUrl' | 'answerMsMax' | 'waitSeconds'> {
  readonly callers: number
  readonly request: (index: number) => NamedRequest
}

/** Callers that submit one saga after the other and follow each to its end. */
export class Load {
  readonly counts = new AnswerCounts()
  readonly accepted = new Set<string>()
  readonly views: TransactionView[] = []
  readonly #options: LoadOptions
  readonly #callers: Promise<void>[]
  #submitted = 0
  #isEnding = false

  constructor(options: LoadOptions) {
    this.#options = options
    this.#callers = Array.from({ length: options.callers }, () => this.#call())
    // Told by end(); until then it is no unhandled rejection.
    for (const caller of this.#callers) caller.catch(() => undefined)
  }

  /** Accepted, and its end not seen yet. */
  get unfinished(): number {
    return this.accepted.size - this.views.length
  }

  /** Each caller's last saga is followed to its end. */
  async end(): Promise<readonly TransactionView[]> {
    this.#isEnding = true
    await Promise.all(this.#callers)
    return this.views
  }

  async #call(): Promise<void> {
    const { callers: _, request, ...options } = this.#options
    const onAccepted = (gid: string) => void this.accepted.add(gid)
    while (!this.#isEnding) {
      const next = request(this.#submitted++)
      this.views.push(await submitUntilFinal(next, { ...options, counts: this.counts, onAccepted }))
    }
  }
}
