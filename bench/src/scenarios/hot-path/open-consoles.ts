import type { Figures } from '../../rounds.ts'

/** So many tabs are open, each with one stream and with what its screens ask for again. */
const TABS = 3
/** A tab asks for the first page of the list, and for the overview, each time so much has passed. */
const POLL_MS = 5_000
const STREAM = '/v1/live?topics=overview,fresh'
const POLLED = ['/v1/transactions?limit=50', '/v1/overview'] as const

/** Opens consoles on a server. What is returned closes them, and tells how much they were sent. */
export async function openConsoles(serverUrl: string): Promise<() => Promise<Figures>> {
  const closing = new AbortController()
  const seen = { 'console frames': 0, 'console answers': 0 }
  const ask = async (path: string): Promise<Response> => {
    const init = { signal: closing.signal }
    const first = await fetch(`${serverUrl}${path}`, init)
    // The server was about to close a connection on which nothing had been asked. A browser asks again on another one.
    const response = first.status === 408 ? await fetch(`${serverUrl}${path}`, init) : first
    if (response.status !== 200) throw new Error(`${path} answered ${response.status}`)
    return response
  }
  const poll = async (): Promise<void> => {
    for (const path of POLLED) {
      await (await ask(path)).arrayBuffer()
      seen['console answers'] += 1
    }
  }
  const streams = await Promise.all(Array.from({ length: TABS }, () => ask(STREAM)))
  const reads = streams.map(async ({ body }) => {
    if (body === null) throw new Error('a stream without a body')
    for await (const chunk of body) if (chunk.length > 0) seen['console frames'] += 1
  })
  const failures: unknown[] = []
  const note = (error: unknown) => {
    if (!closing.signal.aborted) failures.push(error)
  }
  for (const read of reads) read.catch(note)
  const pollAll = () => Promise.all(Array.from({ length: TABS }, poll)).then(() => undefined, note)
  let polls = pollAll()
  const timer = setInterval(() => {
    polls = polls.then(pollAll)
  }, POLL_MS)
  return async () => {
    clearInterval(timer)
    await polls
    closing.abort()
    await Promise.allSettled(reads)
    if (failures.length > 0) throw new AggregateError(failures, 'a console was not served')
    if (seen['console frames'] === 0) throw new Error('no console got a frame')
    return seen
  }
}
