import { setTimeout as delay } from 'node:timers/promises'
import type { BulkListView, BulkView } from '@counterstep/protocol'
import { request } from 'undici'
import { AUTHORIZED } from '../processes/api-key.ts'
import type { SeededRandom } from '../seeded-random.ts'

const ANSWER_MS_MAX = 6_000
const LOOK_EVERY_MS = 300
const RATE = 500
/** The lease of a job whose node was killed takes half a minute to end, and the answers that it reads back a minute. */
const JOB_MS_MAX = 180_000

export interface BulkRetry {
  readonly urls: readonly string[]
  readonly random: SeededRandom
  readonly gids: readonly string[]
}

/**
 * Retries many transactions by one job, and goes on with it where it pauses. It has no canaries, because these would fail
 * again. Resolves to its last state. A job has no id of its own before it is created, so after a lost answer its
 * operator looks for it by its reason before it is sent again.
 */
export async function runBulkRetry({ urls, random, gids }: BulkRetry): Promise<BulkView> {
  const endAt = performance.now() + JOB_MS_MAX
  const reason = 'a bulk retry by the chaos run'
  const order = { command: 'retry', gids, reason, canary: 0, ratePerSecond: RATE }
  let job: BulkView | undefined
  while (performance.now() < endAt) {
    const url = `${random.pick(urls)}/v1/bulk`
    if (job === undefined) {
      const list = await ask<BulkListView>('GET', url)
      job = list?.items.find((each) => each.reason === reason)
      if (list !== undefined) job ??= await ask<BulkView>('POST', url, order)
    } else {
      if (job.state === 'paused') await ask<BulkView>('POST', `${url}/${job.id}/resume`)
      job = (await ask<BulkView>('GET', `${url}/${job.id}`)) ?? job
      if (job.state === 'done') return job
    }
    await delay(LOOK_EVERY_MS)
  }
  throw new Error(`the bulk job has not ended in ${JOB_MS_MAX} ms: ${JSON.stringify(job)}`)
}

/** Undefined: there was no answer, or one that says to ask again. */
async function ask<Answer>(method: 'GET' | 'POST', url: string, body?: object): Promise<Answer | undefined> {
  try {
    const response = await request(url, {
      method,
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
      headers: { ...AUTHORIZED, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.body.text()
    return response.statusCode < 300 ? (JSON.parse(text) as Answer) : undefined
  } catch {
    // A server that is down, or an answer that was cut off.
    return undefined
  }
}
