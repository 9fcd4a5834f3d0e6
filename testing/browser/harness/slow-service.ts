import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

/** Starts a bank that answers as its paths say, each call so much later. */
export async function startSlowService(afterMs: number): Promise<{ readonly url: string } & AsyncDisposable> {
  const stopped = new AbortController()
  const service = createServer(async (asked, answer) => {
    asked.resume()
    const path = asked.url ?? ''
    const status = path.startsWith('/fails') ? 500 : path.startsWith('/refuses') ? 409 : 200
    await delay(afterMs, undefined, { signal: stopped.signal }).catch(() => undefined)
    answer.writeHead(status, { 'content-type': 'application/json' })
    answer.end('{}')
  })
  service.listen(0, '127.0.0.1')
  await once(service, 'listening')
  const { port } = service.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      stopped.abort()
      service.closeAllConnections()
      service.close()
      await once(service, 'close')
    },
  }
}
