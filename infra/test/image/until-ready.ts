import { setTimeout as sleep } from 'node:timers/promises'
import type { Container } from './container.ts'

const READY_MS_MAX = 60_000
const POLL_MS = 10

/** Resolves with how long it took from now until this URL answered with 200. */
export async function untilReady(container: Container, url: string): Promise<number> {
  const startedAt = performance.now()
  let hasEnded = false
  void container.ended.then(() => {
    hasEnded = true
  })
  for (;;) {
    if (await answers(url)) return performance.now() - startedAt
    if (hasEnded) throw new Error(`ended before it was ready:\n${container.output()}`)
    if (performance.now() - startedAt > READY_MS_MAX) {
      throw new Error(`not ready within ${READY_MS_MAX} ms:\n${container.output()}`)
    }
    await sleep(POLL_MS)
  }
}

async function answers(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(2_000) })
    await response.arrayBuffer()
    return response.ok
  } catch (error: unknown) {
    // The server does not listen yet.
    if (error instanceof TypeError || (error instanceof Error && error.name === 'TimeoutError')) return false
    throw error
  }
}
