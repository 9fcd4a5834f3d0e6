import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

interface Call {
  readonly path: string
  readonly body: string
}

interface Answer {
  readonly statusCode: number
  readonly body: string
}

/** Stands between the orchestrator and one service. */
export interface UnreliableNetwork {
  readonly url: string
  /** How often it did what it is for. */
  readonly counts: { doubled: number; lost: number }
  /** Sends each call that came through once more, a hundred at a time. Answers what was answered now. */
  replay(): Promise<readonly Answer[]>
  close(): Promise<void>
}

const DOUBLED_EVERY = 3
const LOST_EVERY = 7
const REPLAYED_AT_ONCE = 100

/** Sends every third call twice at once, and loses the answer to every seventh after it took effect. */
export async function startUnreliableNetwork(serviceUrl: string): Promise<UnreliableNetwork> {
  const counts = { doubled: 0, lost: 0 }
  const calls: Call[] = []
  const send = (call: Call) => forward(serviceUrl, call)
  const server = createServer((request, response) => {
    void carry(request, response).catch((error: unknown) => response.destroy(error as Error))
  })

  async function carry(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const call = await readCall(request)
    const number = calls.push(call)
    const isDoubled = number % DOUBLED_EVERY === 0
    const [answer] = await Promise.all(isDoubled ? [send(call), send(call)] : [send(call)])
    if (isDoubled) counts.doubled += 1
    if (number % LOST_EVERY === 0) {
      counts.lost += 1
      response.destroy()
      return
    }
    response.writeHead(answer.statusCode, { 'content-type': 'application/json' }).end(answer.body)
  }

  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    counts,
    replay: async () => {
      const answers: Answer[] = []
      for (let from = 0; from < calls.length; from += REPLAYED_AT_ONCE) {
        answers.push(...(await Promise.all(calls.slice(from, from + REPLAYED_AT_ONCE).map(send))))
      }
      return answers
    },
    close: async () => {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

async function readCall(request: IncomingMessage): Promise<Call> {
  let body = ''
  for await (const chunk of request.setEncoding('utf8')) body += String(chunk)
  return { path: request.url ?? '/', body }
}

async function forward(serviceUrl: string, { path, body }: Call): Promise<Answer> {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(serviceUrl + path, { method: 'POST', headers, body })
  return { statusCode: response.status, body: await response.text() }
}
