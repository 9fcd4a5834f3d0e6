import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { withSecrets } from '@counterstep/test-servers/with-secrets'

export interface BranchService {
  readonly url: string
  /** Resolves with its first call. */
  readonly called: Promise<unknown>
  close(): void
}

/** A participant that answers after `answerMs`, or never: 200, or what it says of the path that is called. */
export async function startBranchService(
  answerMs: number | 'never' = 0,
  statusOf: (path: string) => number = () => 200,
): Promise<BranchService> {
  const server = createServer()
  const called = once(server, 'request')
  server.on('request', ({ url = '' }, response) => {
    if (answerMs === 'never') return
    response.statusCode = statusOf(url.split('?')[0] ?? '')
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
