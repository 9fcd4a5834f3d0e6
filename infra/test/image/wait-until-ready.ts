import { setTimeout as sleep } from 'node:timers/promises'
import type { Container } from './container.ts'

const READY_MS_MAX = 60_000
const POLL_MS = 10

/** Waits until the URL answers with a 2xx status. Resolves with the milliseconds that it took. */
export async function waitUntilReady(container: Container, url: string): Promise<number> {
  const startedAt = performance.now()
  let hasEnded = false
  void container.ended.then(() => {
    hasEnded = true
  })
  for (;;) {
    if (await isAnswering(url)) return performance.now() - startedAt
    if (hasEnded) throw new Error(`ended before it was ready:\n${container.output()}`)
    if (performance.now() - startedAt > READY_MS_MAX) {
      throw new Error(`not ready within ${READY_MS_MAX} ms:\n${container.output()}`)
    }
    await sleep(POLL_MS)
  }
}

async function isAnswering(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(2_000) })
    await response.arrayBuffer()
    return response.ok
  } catch (error: unknown) {
    // The server does not listen yet, or does not answer in time.
    if (error instanceof TypeError || (error instanceof Error && error.name === 'TimeoutError')) return false
    throw error
  }
}
