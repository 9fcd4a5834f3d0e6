import autocannon, { type Client } from 'autocannon'
import { latencyOf } from './latency.ts'
import type { LoadJob, LoadResult } from './load-job.ts'

/** Longer than any wait that is asked for, so that the server's own answer comes first. */
const ANSWER_SECONDS_MAX = 40
const SAMPLE_MS = 100

/**
 * One warm-up and one measured time on the same connections. At the end no connection is cut: each waits for its last
 * answer, so that what was answered can be held against what was stored.
 */
export async function runLoad(job: LoadJob): Promise<LoadResult> {
  const clients: Client[] = []
  const durationsMs: number[] = []
  const faults = { connectionErrors: 0, timeouts: 0, otherStatus: 0, otherBody: 0 }
  let answers = 0
  const measureFrom = performance.now() + job.warmUpSeconds * 1000
  const measureTo = measureFrom + job.seconds * 1000

  const setupClient = (client: Client) => {
    clients.push(client)
    client.on('connError', () => (faults.connectionErrors += 1))
    client.on('timeout', () => (faults.timeouts += 1))
    client.on('mismatch', () => (faults.otherBody += 1))
    client.on('response', (status: number, _bytes: number, durationMs: number) => {
      const now = performance.now()
      answers += 1
      if (status !== 200) faults.otherStatus += 1
      if (now >= measureFrom && now < measureTo) durationsMs.push(durationMs)
    })
  }
  const drain = setTimeout(() => {
    for (const client of clients) client.responseMax = client.reqsMade
  }, measureTo - performance.now())
  await autocannon({
    url: job.url,
    method: 'POST',
    headers: job.headers,
    body: job.body,
    connections: job.connections,
    // Only a backstop: it ends when the last connection has drained.
    duration: job.warmUpSeconds + job.seconds + ANSWER_SECONDS_MAX,
    timeout: ANSWER_SECONDS_MAX,
    sampleInt: SAMPLE_MS,
    verifyBody: (body) => body.includes(job.expect),
    setupClient,
  })
  clearTimeout(drain)
  return {
    answers,
    faults,
    answersPerSecond: durationsMs.length / job.seconds,
    latencyMs: latencyOf(durationsMs),
  }
}
