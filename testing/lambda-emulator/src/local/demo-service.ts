import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'

/** A payment over this is refused, so that a user can see a saga being undone. */
const CENTS_MAX = 10_000

export interface DemoService {
  readonly url: string
  stop(): Promise<void>
}

/** Starts a service that accepts every call and prints it, but refuses an action with `cents` over 100 euros. */
export async function startDemoService(tell: (line: string) => void): Promise<DemoService> {
  const server = createServer(async (request, response) => {
    const isRefused = request.headers['counterstep-op'] === 'action' && (await readCents(request)) > CENTS_MAX
    request.resume()
    tell(`${request.url?.split('?')[0]} ${isRefused ? 'refused' : 'done'}`)
    response.writeHead(isRefused ? 409 : 200, { 'content-type': 'application/json' })
    response.end(isRefused ? '{"code":"INSUFFICIENT_FUNDS","message":"not enough money"}' : '{}')
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}

/** Reads the cents of a payload. A payload of another form counts as 0. */
async function readCents(request: IncomingMessage): Promise<number> {
  const isJson = request.headers['content-type']?.startsWith('application/json') === true
  const payload: unknown = isJson ? await json(request) : undefined
  const cents = typeof payload === 'object' && payload !== null && 'cents' in payload ? payload.cents : 0
  return typeof cents === 'number' ? cents : 0
}
