import type { SagaSubmitRequest } from '@counterstep/protocol'
import type { SecretWatch } from '@counterstep/test-servers/secret-watch'
import { withSecrets } from '@counterstep/test-servers/with-secrets'
import { Pool } from 'undici'

/** The outcome of one submit. */
export interface Submitted {
  readonly gid: string
  /** When its turn was, in the time of performance.now(), whatever kept it from being sent. */
  readonly intendedAt: number
  readonly endedAt: number
  /** Undefined: no answer came. */
  readonly statusCode: number | undefined
  /** The code of a refusal. */
  readonly code: string | undefined
  readonly retryAfter: string | undefined
  /** The status of an accepted one, when it was answered. */
  readonly status: string | undefined
}

const ANSWER_MS_MAX = 60_000

/** Submits over a bounded number of connections; one more waits, and its latency counts that. */
export class Submitter {
  readonly #watch: SecretWatch
  readonly #pool: Pool

  constructor({ url, watch }: { readonly url: string; readonly watch: SecretWatch }, connectionsMax: number) {
    this.#watch = watch
    this.#pool = new Pool(url, {
      connections: connectionsMax,
      pipelining: 1,
      headersTimeout: ANSWER_MS_MAX,
      bodyTimeout: ANSWER_MS_MAX,
    })
  }

  async submit(
    saga: SagaSubmitRequest & { readonly gid: string },
    intendedAt: number,
    waitSeconds: number,
  ): Promise<Submitted> {
    try {
      const { statusCode, headers, body } = await this.#pool.request({
        method: 'POST',
        path: '/v1/transactions',
        headers: { 'content-type': 'application/json', prefer: `wait=${waitSeconds}` },
        body: JSON.stringify(withSecrets(saga)),
      })
      const text = await body.text()
      this.#watch.hear('answers to clients', text)
      const answer = JSON.parse(text) as { readonly code?: string; readonly status?: unknown }
      const isAccepted = statusCode < 300
      return {
        gid: saga.gid,
        intendedAt,
        endedAt: performance.now(),
        statusCode,
        code: answer.code,
        retryAfter: headers['retry-after']?.toString(),
        status: isAccepted ? String(answer.status) : undefined,
      }
    } catch (error: unknown) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
      const nothing = { statusCode: undefined, retryAfter: undefined, status: undefined }
      return { gid: saga.gid, intendedAt, endedAt: performance.now(), code, ...nothing }
    }
  }

  close(): Promise<void> {
    return this.#pool.destroy()
  }
}
