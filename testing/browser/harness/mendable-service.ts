import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface MendableService extends AsyncDisposable {
  readonly url: string
  /** Each call is answered 500 until this is called, and 200 from then on. */
  mend(): void
  readonly callsAnswered: number
  /** How often each gid was answered 200. */
  readonly answeredByGid: ReadonlyMap<string, number>
}

/** A URL below this path was never broken. */
export const SOUND_PATH = '/sound'

/** Starts a bank that fails until the test mends it. */
export async function startMendableService(): Promise<MendableService> {
  let isMended = false
  let callsAnswered = 0
  const answeredByGid = new Map<string, number>()
  const service = createServer((asked, answer) => {
    asked.resume()
    const { pathname, searchParams } = new URL(asked.url ?? '/', 'http://bank')
    const isSound = isMended || pathname.startsWith(SOUND_PATH)
    if (isSound) {
      const gid = searchParams.get('gid') ?? ''
      callsAnswered++
      answeredByGid.set(gid, (answeredByGid.get(gid) ?? 0) + 1)
    }
    answer.writeHead(isSound ? 200 : 500, { 'content-type': 'application/json' })
    answer.end(isSound ? '{"ok":true}' : '{"error":"lock wait timeout"}')
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
    answeredByGid,
    async [Symbol.asyncDispose]() {
      service.closeAllConnections()
      service.close()
      await once(service, 'close')
    },
  }
}
