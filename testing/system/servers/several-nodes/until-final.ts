import { setTimeout as delay } from 'node:timers/promises'
import { isFinalStatus, type TransactionView } from '@counterstep/protocol'
import { isRetryable, type NodeAnswer, submit, view } from './node-client.ts'
import type { NamedRequest } from './saga-requests.ts'

/**
 * Both sides of an answer cost CPU time, which dozens of callers take from the nodes. This may delay the times that a
 * test takes.
 */
const ASK_AGAIN_MS = 100
const WAIT_SECONDS = 5

/** Counts of what nodes answered, by status and code, or by why there was no answer. */
export class AnswerCounts {
  readonly #counts = new Map<string, number>()

  add(answer: NodeAnswer): void {
    const word = toWord(answer)
    this.#counts.set(word, (this.#counts.get(word) ?? 0) + 1)
  }

  get(word: string): number {
    return this.#counts.get(word) ?? 0
  }

  toString(): string {
    return [...this.#counts].map(([word, count]) => `${count}× ${word}`).join(', ')
  }
}

function toWord(answer: NodeAnswer): string {
  switch (answer.type) {
    case 'view':
      return String(answer.status)
    case 'problem':
      return `${answer.status} ${answer.code}`
    case 'none':
      return answer.why
  }
}

export interface FinalOptions {
  /** Asked for each try: the node to send it to. */
  readonly pickUrl: () => string
  readonly counts: AnswerCounts
  readonly answerMsMax?: number
  /** How long a submit waits for the end; 0: it is answered when it is accepted. Default 5. */
  readonly waitSeconds?: number
  /** The first 2xx: from here on it must not be lost. */
  readonly onAccepted?: (gid: string) => void
}

/** Works as a client should: sends the same again until it is accepted, then asks until it is final. */
export async function submitUntilFinal(
  request: NamedRequest,
  options: FinalOptions,
): Promise<TransactionView> {
  const { waitSeconds = WAIT_SECONDS, answerMsMax } = options
  const limits = { waitSeconds, ...(answerMsMax === undefined ? {} : { answerMsMax }) }
  const accepted = await insist(options, (url) => submit(url, request, limits))
  options.onAccepted?.(request.gid)
  return isFinalStatus(accepted.status) ? accepted : untilFinal(request.gid, options)
}

export async function untilFinal(gid: string, options: FinalOptions): Promise<TransactionView> {
  for (;;) {
    const seen = await insist(options, (url) => view(url, gid, options.answerMsMax))
    if (isFinalStatus(seen.status)) return seen
    await delay(ASK_AGAIN_MS)
  }
}

/** Repeats what was not answered, or answered with a 503 that says so; any other refusal is a fault. */
export async function insist(
  { pickUrl, counts }: Pick<FinalOptions, 'pickUrl' | 'counts'>,
  send: (url: string) => Promise<NodeAnswer>,
): Promise<TransactionView> {
  for (;;) {
    const answer = await send(pickUrl())
    counts.add(answer)
    if (answer.type === 'view') return answer.view
    if (answer.type === 'problem' && !isRetryable(answer)) throw new Error(toWord(answer))
    await delay(ASK_AGAIN_MS)
  }
}
