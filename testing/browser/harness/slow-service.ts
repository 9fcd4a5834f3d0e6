import { setTimeout as delay } from 'node:timers/promises'
import { chooseStatus, type LoopbackService, serveOnLoopback } from './serve-on-loopback.ts'

/** Starts a bank that answers as its paths say, each call so much later. */
export async function startSlowService(afterMs: number): Promise<LoopbackService> {
  const stopped = new AbortController()
  const service = await serveOnLoopback(async (asked, answer) => {
    asked.resume()
    await delay(afterMs, undefined, { signal: stopped.signal }).catch(() => undefined)
    answer.writeHead(chooseStatus(asked.url), { 'content-type': 'application/json' })
    answer.end('{}')
  })
  return {
    url: service.url,
    async [Symbol.asyncDispose]() {
      stopped.abort()
      await service[Symbol.asyncDispose]()
    },
  }
}
