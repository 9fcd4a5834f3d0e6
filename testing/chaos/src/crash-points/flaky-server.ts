import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

export interface FlakyServer {
  readonly url: string
  close(): Promise<void>
}

/**
 * Stands before a bank. The answer of each first attempt is lost after the bank has acted: the caller learns a 502.
 * `/yes` answers 200 by itself.
 */
export async function startFlakyServer(bank: string): Promise<FlakyServer> {
  const server = createServer((request, response) => {
    answer(bank, request, response).catch((error: unknown) => response.destroy(error as Error))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, close: () => closeServer(server) }
}

async function answer(bank: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await text(request)
  if (request.url?.startsWith('/yes') === true) {
    response.writeHead(200).end()
    return
  }
  const headers: Record<string, string> = { 'content-type': 'application/json' }
  for (const name of ['counterstep-attempt', 'counterstep-epoch', 'counterstep-accepted-at']) {
    const value = request.headers[name]
    if (typeof value === 'string') headers[name] = value
  }
  const answered = await fetch(`${bank}${request.url}`, { method: 'POST', headers, body })
  const isFirst = headers['counterstep-attempt'] === '1'
  response.writeHead(isFirst ? 502 : answered.status).end(await answered.text())
}

async function closeServer(server: Server): Promise<void> {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
}
