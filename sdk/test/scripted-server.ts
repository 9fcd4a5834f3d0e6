import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Seen {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

/** The reply to the n-th request, or a function that makes it; `cut` ends the connection without an answer. */
export type Reply = FixedReply | ((seen: Seen) => FixedReply)

type FixedReply = 'cut' | { status: number; body?: unknown; headers?: Record<string, string> }

/** Builds an answer with a problem of ours. */
export function problem(status: number, code: string, more: object = {}): Exclude<FixedReply, 'cut'> {
  return { status, body: { type: 'x', title: 'x', status, detail: 'why', code, ...more } }
}

export interface ScriptedServer extends AsyncDisposable {
  readonly url: string
  readonly seen: readonly Seen[]
}

/** A server that answers from a list; the last reply repeats. */
export async function scriptedServer(replies: readonly Reply[]): Promise<ScriptedServer> {
  const seen: Seen[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const last = { method: request.method ?? '', url: request.url ?? '', headers: request.headers, body }
    seen.push(last)
    const reply = replies[Math.min(seen.length, replies.length) - 1] ?? 'cut'
    answer(response, typeof reply === 'function' ? reply(last) : reply)
  })
  await listening(server)
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    seen,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function listening(server: Server): Promise<void> {
  return new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
}

function answer(response: ServerResponse, reply: FixedReply): void {
  if (reply === 'cut') {
    response.socket?.destroy()
    return
  }
  const { status, body, headers = {} } = reply
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(typeof body === 'string' ? body : JSON.stringify(body))
}
