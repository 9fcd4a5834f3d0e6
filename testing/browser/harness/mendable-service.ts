import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface MendableService extends AsyncDisposable {
  readonly url: string
  /** Each call is answered 500 until this is called, and 200 from then on. */
  mend(): void
  readonly callsAnswered: number
}

/** Starts a bank that fails until the test mends it. */
export async function startMendableService(): Promise<MendableService> {
  let isMended = false
  let callsAnswered = 0
  const service = createServer((asked, answer) => {
    asked.resume()
    if (isMended) callsAnswered++
    answer.writeHead(isMended ? 200 : 500, { 'content-type': 'application/json' })
    answer.end(isMended ? '{"ok":true}' : '{"error":"lock wait timeout"}')
  })
  service.listen(0, '127.0.0.1')
  await once(service, 'listening')
  const { port } = service.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    mend: () => {
      isMended = true
    },
    get callsAnswered() {
      return callsAnswered
    },
    async [Symbol.asyncDispose]() {
      service.closeAllConnections()
      service.close()
      await once(service, 'close')
    },
  }
}
