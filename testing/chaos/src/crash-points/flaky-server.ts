import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

export interface FlakyServer {
  readonly url: string
  close(): Promise<void>
}

/**
 * Stands before a bank, and before the handler of its workflows. The answer of each first attempt is lost after it was acted upon: the caller learns a 502.
 * `/yes` answers 200 by itself.
 */
export async function startFlakyServer(bank: string, handler: string): Promise<FlakyServer> {
  const server = createServer((request, response) => {
    answer({ bank, handler }, request, response).catch((error: unknown) => response.destroy(error as Error))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, close: () => closeServer(server) }
}

async function answer(
  { bank, handler }: Readonly<Record<'bank' | 'handler', string>>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
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
  const base = request.url?.startsWith('/workflows') === true ? handler : bank
  const answered = await fetch(`${base}${request.url}`, { method: 'POST', headers, body })
  const isFirst = headers['counterstep-attempt'] === '1'
  const type = answered.headers.get('content-type') ?? 'application/json'
  response.writeHead(isFirst ? 502 : answered.status, { 'content-type': type }).end(await answered.text())
}

async function closeServer(server: Server): Promise<void> {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
}
