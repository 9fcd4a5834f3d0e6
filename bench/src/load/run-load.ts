import autocannon, { type Client } from 'autocannon'
import type { LoadJob, LoadResult } from './load-job.ts'
import { MeasuredPart } from './measured-part.ts'
import { uniqueText } from './unique-text.ts'

/** Longer than any wait that is asked for, so that the server's own answer comes first. */
const ANSWER_SECONDS_MAX = 40
const SAMPLE_MS = 100
const UNEXPECTED_LENGTH_MAX = 500

/**
 * One warm-up and one measured part on the same connections. At the end no connection is cut: each waits for its last
 * answer, so that what was answered can be held against what was stored.
 */
export async function runLoad(job: LoadJob): Promise<LoadResult> {
  const { length } = job
  const clients: Client[] = []
  const measured = new MeasuredPart(length, performance.now())
  const faults = { connectionErrors: 0, timeouts: 0, otherStatus: 0, otherBody: 0 }
  let unexpected: string | null = null

  const setupClient = (client: Client) => {
    clients.push(client)
    if (job.unique !== undefined) nameRequests(client, job.body, job.unique, clients.length)
    client.on('connError', () => (faults.connectionErrors += 1))
    client.on('timeout', () => (faults.timeouts += 1))
    client.on('mismatch', () => (faults.otherBody += 1))
    client.on('response', (status: number, _bytes: number, durationMs: number) => {
      if (status !== job.expectStatus) faults.otherStatus += 1
      measured.answered(performance.now(), durationMs)
    })
  }
  const stopDraining = length.type === 'time' ? drainAfter(length, clients) : () => undefined
  await autocannon({
    url: typeof job.url === 'string' ? job.url : [...job.url],
    method: 'POST',
    headers: job.headers,
    body: job.body,
    connections: job.connections,
    ...toLimit(length),
    timeout: ANSWER_SECONDS_MAX,
    sampleInt: SAMPLE_MS,
    verifyBody: (body) => {
      const isExpected = body.includes(job.expect)
      if (!isExpected) unexpected ??= body.slice(0, UNEXPECTED_LENGTH_MAX)
      return isExpected
    },
    setupClient,
  })
  stopDraining()
  return { answers: measured.answers, faults, unexpected, ...measured.result() }
}

/**
 * Gives each request of a connection its own body. The next one is written while the server works on this one, so that a
 * single caller does not wait for it: the event comes just before a request is sent, also again after a reconnect.
 */
function nameRequests(client: Client, body: string, unique: string, connection: number): void {
  let request = 0
  const nameNext = () => {
    request += 1
    client.setBody(body.replaceAll(unique, uniqueText(unique, connection, request)))
  }
  nameNext()
  client.on('request', () => setImmediate(nameNext))
}

function drainAfter(
  { warmUpSeconds, seconds }: { readonly warmUpSeconds: number; readonly seconds: number },
  clients: readonly Client[],
): () => void {
  const drain = setTimeout(
    () => {
      for (const client of clients) client.responseMax = client.reqsMade
    },
    (warmUpSeconds + seconds) * 1000,
  )
  return () => clearTimeout(drain)
}

/** A time is only a backstop: the run ends when the last connection has drained. */
function toLimit(length: LoadJob['length']): { readonly duration: number } | { readonly amount: number } {
  return length.type === 'time'
    ? { duration: length.warmUpSeconds + length.seconds + ANSWER_SECONDS_MAX }
    : { amount: length.warmUpAnswers + length.answers }
}
