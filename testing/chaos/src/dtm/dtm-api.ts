import { setTimeout as delay } from 'node:timers/promises'

const ANSWER_MS_MAX = 5_000
/** Only tells stuck from slow. */
const PATIENCE_MS_MAX = 60_000
const AGAIN_MS = 50

export interface DtmAnswer {
  readonly statusCode: number
  readonly text: string
}

/** The part of a transaction that DTM's API shows and that a run compares. */
export interface DtmView {
  readonly transaction: { readonly status: string } | null
  readonly branches: readonly DtmBranchView[]
}

export interface DtmBranchView {
  readonly branch_id: string
  readonly op: string
  readonly status: string
  /** The data in base64. */
  readonly bin_data?: string
}

/** Asks servers by DTM's HTTP API, each in its turn. */
export class DtmApi {
  readonly #urls: readonly string[]
  #turn = 0

  constructor(urls: readonly string[]) {
    this.#urls = urls
  }

  /** Asks once. Throws if no answer comes. */
  async ask(command: string, body: unknown): Promise<DtmAnswer> {
    const response = await fetch(`${this.#nextUrl()}/api/dtmsvr/${command}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
    })
    return { statusCode: response.status, text: await response.text() }
  }

  /** Asks until an answer is a success or a failure. Undefined: none was within a minute. */
  async askUntilAnswered(command: string, body: unknown): Promise<DtmAnswer | undefined> {
    for (const endAt = performance.now() + PATIENCE_MS_MAX; performance.now() < endAt; ) {
      try {
        const answer = await this.ask(command, body)
        if (answer.statusCode === 200 || answer.statusCode === 409) return answer
      } catch {
        // The server is dead, or its answer was lost.
      }
      await delay(AGAIN_MS)
    }
    return undefined
  }

  /** Throws if no answer comes. */
  async query(gid: string): Promise<DtmView> {
    const response = await fetch(`${this.#nextUrl()}/api/dtmsvr/query?gid=${gid}`, {
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
    })
    if (response.status !== 200) throw new Error(`query of ${gid} is answered with ${response.status}`)
    return (await response.json()) as DtmView
  }

  /** Asks again while a server that lacks its store or has no time does not say it. Throws after a minute. */
  async queryUntilAnswered(gid: string): Promise<DtmView> {
    for (const endAt = performance.now() + PATIENCE_MS_MAX; ; await delay(AGAIN_MS)) {
      try {
        return await this.query(gid)
      } catch (error: unknown) {
        if (performance.now() > endAt) throw error
      }
    }
  }

  /** Takes each server in its turn, so that a dead one is left with the next try. */
  #nextUrl(): string {
    const url = this.#urls[this.#turn++ % this.#urls.length]
    if (url === undefined) throw new Error('a run has a server')
    return url
  }
}
