import type { TransactionView } from '@counterstep/protocol'
import type { SecretWatch } from '@counterstep/test-servers/secret-watch'
import { Agent, request } from 'undici'

const CONNECTIONS_MAX = 32
const ANSWER_MS_MAX = 60_000

export interface Answer {
  readonly status: number
  readonly body: unknown
}

/** The native face of one orchestrator, over few connections. */
export class Api {
  readonly #url: string
  readonly #watch: SecretWatch
  readonly #agent = new Agent({
    connections: CONNECTIONS_MAX,
    headersTimeout: ANSWER_MS_MAX,
    bodyTimeout: ANSWER_MS_MAX,
  })

  constructor({ url, watch }: { readonly url: string; readonly watch: SecretWatch }) {
    this.#url = url
    this.#watch = watch
  }

  async post(path: string, body?: object): Promise<Answer> {
    const content =
      body === undefined
        ? {}
        : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
    return this.#send('POST', path, content)
  }

  async get(path: string): Promise<Answer> {
    return this.#send('GET', path, {})
  }

  /** Throws for a transaction that is not there. */
  async view(path: string): Promise<TransactionView> {
    const { status, body } = await this.get(path)
    if (status !== 200) throw new Error(`GET ${path} answered ${status}`)
    return body as TransactionView
  }

  close(): Promise<void> {
    return this.#agent.close()
  }

  async #send(
    method: 'GET' | 'POST',
    path: string,
    content: { headers?: Record<string, string>; body?: string },
  ): Promise<Answer> {
    const { statusCode, body } = await request(this.#url + path, {
      method,
      dispatcher: this.#agent,
      ...content,
    })
    const text = await body.text()
    this.#watch.hear('answers to clients', text)
    return { status: statusCode, body: JSON.parse(text) }
  }
}
