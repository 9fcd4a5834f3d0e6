import type { TransactionView } from '@counterstep/protocol'
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
  readonly #agent = new Agent({
    connections: CONNECTIONS_MAX,
    headersTimeout: ANSWER_MS_MAX,
    bodyTimeout: ANSWER_MS_MAX,
  })

  constructor(url: string) {
    this.#url = url
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
    return { status: statusCode, body: await body.json() }
  }
}
