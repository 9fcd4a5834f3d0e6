import type { TransactionPage, TransactionView } from '@counterstep/protocol'
import type { MixedSaga } from './saga-mix.ts'

const TRY_EVERY_MS = 50

/** Submits and aborts through kills: what has no definite answer is sent again. */
export class KillClient {
  /** The URL of the server now; undefined while it is down. */
  url: string | undefined
  readonly acknowledged = new Set<string>()
  #abortsAccepted = 0
  #abortsTooLate = 0

  get aborts(): { readonly accepted: number; readonly tooLate: number } {
    return { accepted: this.#abortsAccepted, tooLate: this.#abortsTooLate }
  }

  async run({ request, abortAfterMs }: MixedSaga): Promise<void> {
    await this.#send('POST', '/v1/transactions', request)
    this.acknowledged.add(request.gid)
    if (abortAfterMs === undefined) return
    await new Promise((resolve) => setTimeout(resolve, abortAfterMs))
    const status = await this.#send('POST', `/v1/transactions/${request.gid}/abort`)
    if (status === 409) this.#abortsTooLate++
    else this.#abortsAccepted++
  }

  async view(gid: string): Promise<TransactionView> {
    const response = await fetch(`${this.url}/v1/transactions/${gid}`)
    if (response.status !== 200) throw new Error(`GET ${gid}: ${response.status}`)
    return (await response.json()) as TransactionView
  }

  async unfinished(): Promise<number> {
    const response = await fetch(`${this.url}/v1/transactions?status=submitted&status=aborting&limit=200`)
    return ((await response.json()) as TransactionPage).items.length
  }

  async #send(method: string, path: string, body?: unknown): Promise<number> {
    for (;;) {
      const status = this.url === undefined ? undefined : await this.#try(this.url + path, method, body)
      if (status !== undefined && status !== 503) {
        if (status >= 400 && status !== 409) throw new Error(`${method} ${path}: ${status}`)
        return status
      }
      await new Promise((resolve) => setTimeout(resolve, TRY_EVERY_MS))
    }
  }

  /** Undefined: no answer. */
  async #try(url: string, method: string, body: unknown): Promise<number | undefined> {
    try {
      const headers: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' }
      const response = await fetch(url, {
        method,
        headers,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      await response.arrayBuffer()
      return response.status
    } catch (error: unknown) {
      // fetch reports a lost connection so; anything else is a fault of this test.
      if (error instanceof TypeError) return undefined
      throw error
    }
  }
}
