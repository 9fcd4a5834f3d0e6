import type { SubmitRequest, TransactionView } from '@counterstep/protocol'
import { SecretWatch } from '@counterstep/test-servers/secret-watch'
import { withSecrets } from '@counterstep/test-servers/with-secrets'
import type { Random } from './random.ts'

const SENDERS = 8
const FAILING_SHARE = 0.25
const WAITING_SHARE = 0.5
export const ACCOUNTS = 40
const AMOUNT_CENTS_MAX = 500

/** The knowledge of the clients: the gids that they sent, and the answers that they got for each. */
export class Load {
  readonly sent = new Set<string>()
  /** The last status that was seen of each gid. */
  readonly acknowledged = new Map<string, string>()
  /** The time of the first answer for each gid, in milliseconds. */
  readonly acknowledgedAt = new Map<string, number>()
  readonly faults: string[] = []
  /** Watches every answer that comes. */
  readonly watch = new SecretWatch()
  readonly #bank: string
  readonly #random: Random

  constructor(bank: string, random: Random) {
    this.#bank = bank
    this.#random = random
  }

  /** Sends, each sender one after the other, until the server is gone. */
  async run(url: string): Promise<void> {
    await Promise.all(Array.from({ length: SENDERS }, () => this.#sendAll(url)))
  }

  async #sendAll(url: string): Promise<void> {
    for (;;) {
      const request = this.#nextRequest()
      this.sent.add(request.gid)
      const view = await this.#submit(url, request)
      if (view === undefined) return
      this.acknowledged.set(request.gid, view.status)
      this.acknowledgedAt.set(request.gid, performance.now())
    }
  }

  /** Undefined: no answer, so the power is cut. */
  async #submit(url: string, request: SubmitRequest): Promise<TransactionView | undefined> {
    const headers: Record<string, string> = { 'content-type': 'application/json' }
    if (this.#random.next() < WAITING_SHARE) headers.prefer = 'wait=5'
    try {
      const body = JSON.stringify(request)
      const response = await fetch(`${url}/v1/transactions`, { method: 'POST', headers, body })
      const text = await response.text()
      this.watch.hear('answers to clients', text)
      const answer: unknown = JSON.parse(text)
      if (response.status === 200 || response.status === 202) return answer as TransactionView
      // The store of a server that is still up may be gone already.
      if (response.status !== 503) this.faults.push(`a submit was answered ${response.status}`)
      return undefined
    } catch (error: unknown) {
      // fetch reports a lost connection so, and a body that was cut; anything else is a fault of the harness.
      if (error instanceof TypeError || error instanceof SyntaxError) return undefined
      throw error
    }
  }

  #nextRequest(): SubmitRequest & { readonly gid: string } {
    const amountCents = 1 + this.#random.upTo(AMOUNT_CENTS_MAX)
    const to = this.#random.next() < FAILING_SHARE ? 'frozen' : this.#account()
    return withSecrets({
      gid: `power-${this.sent.size + 1}`,
      branches: [
        this.#branch('debit', this.#account(), amountCents),
        this.#branch('credit', to, amountCents),
      ],
    })
  }

  #branch(what: 'debit' | 'credit', account: string, amountCents: number) {
    const payload = { account, amountCents }
    return { id: what, action: `${this.#bank}/${what}`, compensation: `${this.#bank}/${what}-undo`, payload }
  }

  #account(): string {
    return `account-${1 + this.#random.upTo(ACCOUNTS - 1)}`
  }
}
