import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { withSecrets } from '@counterstep/test-servers/with-secrets'

export interface BranchService {
  readonly url: string
  /** Resolves when the first call comes. */
  readonly called: Promise<unknown>
  close(): void
}

/** Opens a participant that answers after `answerMs`, or never. The status is 200, or the one for the called path. */
export async function startBranchService(
  answerMs: number | 'never' = 0,
  readStatus: (path: string) => number = () => 200,
): Promise<BranchService> {
  const server = createServer()
  const called = once(server, 'request')
  server.on('request', ({ url = '' }, response) => {
    if (answerMs === 'never') return
    response.statusCode = readStatus(url.split('?')[0] ?? '')
    setTimeout(() => response.end('{}'), answerMs)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/go`,
    called,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

export function submit(url: string, body: object, waitSeconds = 0): Promise<Response> {
  return fetch(`${url}/v1/transactions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', prefer: `wait=${waitSeconds}` },
    body: JSON.stringify(withSecrets(body)),
  })
}
