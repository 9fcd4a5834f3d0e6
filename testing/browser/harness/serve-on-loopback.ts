import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface LoopbackService extends AsyncDisposable {
  readonly url: string
}

/** Starts a service on a free port. Its end closes the connections that are open. */
export async function serveOnLoopback(handle: RequestListener): Promise<LoopbackService> {
  const service = createServer(handle)
  service.listen(0, '127.0.0.1')
  await once(service, 'listening')
  const { port } = service.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      service.closeAllConnections()
      service.close()
      await once(service, 'close')
    },
  }
}

/** Finds the status that a bank of these tests answers on this path. */
export function chooseStatus(path = ''): number {
  if (path.startsWith('/fails')) return 500
  return path.startsWith('/refuses') ? 409 : 200
}
