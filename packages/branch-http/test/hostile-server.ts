import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net'
import type { BranchCall } from '@counterstep/core'
import { isBranchId, isGid } from '@counterstep/protocol'
import { onTestFinished } from 'vitest'

export interface TestServer {
  readonly url: string
  readonly port: number
  /** Counts the connections that were accepted so far, and those that are open now. */
  readonly countAccepted: () => number
  readonly countOpen: () => number
  /** Resolves when `count` connections have been closed, even if that was before the call. */
  readonly untilClosed: (count: number) => Promise<void>
}

/** Starts a plain HTTP server of Node, which is closed when the test ends. */
export function serveHttp(listener: RequestListener): Promise<TestServer> {
  return listen(createServer(listener))
}

/** Starts a TCP server for answers that no HTTP server would give. `answer` is called when the first bytes have come. */
export function serveBytes(answer: (socket: Socket) => void): Promise<TestServer> {
  return listen(
    createTcpServer((socket) => {
      socket.once('data', () => answer(socket))
    }),
  )
}

async function listen(server: Server): Promise<TestServer> {
  const sockets = new Set<Socket>()
  const watchers = new Set<() => void>()
  let accepted = 0
  server.on('connection', (socket) => {
    accepted++
    sockets.add(socket)
    socket.on('error', () => socket.destroy())
    socket.on('close', () => {
      sockets.delete(socket)
      for (const watch of watchers) watch()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy()
    server.close()
    await once(server, 'close')
  })
  const { port } = server.address() as AddressInfo
  const untilClosed = (count: number): Promise<void> =>
    new Promise((resolve) => {
      const watch = (): void => {
        if (accepted - sockets.size >= count) resolve()
      }
      watchers.add(watch)
      watch()
    })
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    countAccepted: () => accepted,
    countOpen: () => sockets.size,
    untilClosed,
  }
}

export async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}

export function buildCall(url: string, overrides: Partial<BranchCall> & { id?: string } = {}): BranchCall {
  const { id = 'gid-1', ...fields } = overrides
  const branchId = '01'
  if (!isGid(id) || !isBranchId(branchId)) throw new Error('not an id')
  return {
    gid: id,
    kind: 'saga',
    branchId,
    op: 'action',
    attempt: 1,
    epoch: 1,
    acceptedAt: 1_790_000_000_000,
    method: 'POST',
    url,
    body: '{"amountCents":100}',
    contentType: 'application/json',
    headers: {},
    timeoutMs: 5_000,
    wordsCount: false,
    ...fields,
  }
}
