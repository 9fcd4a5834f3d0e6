import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { HotConnection, type HotLimits, type RequestLine } from './hot-connection.ts'

export interface HotRoutes {
  /** `POST /v1/transactions`, just as a request names it: no parameter, no query. */
  readonly routes: readonly string[]
  readonly limits: HotLimits & {
    /** How often the limits are looked at. */
    readonly connectionsCheckMs: number
  }
}

/**
 * Lets plain requests of a few routes reach the server's 'request' listeners without Node's parser and streams. They get
 * what fastify asks of a request and a response, and may answer with one text. Every other connection is Node's as
 * before, and becomes so with its first other request. Call it before the server listens. Throws RangeError for a limit
 * that is not above zero.
 */
export function serveHotRequests(server: Server, { routes, limits }: HotRoutes): void {
  for (const [name, limit] of Object.entries(limits)) {
    // To Node's server 0 is none.
    if (!(limit > 0)) throw new RangeError(`${name} must be above 0`)
  }
  const nodesListeners = server.listeners('connection')
  const connections = new Set<HotConnection>()
  let timer: NodeJS.Timeout | undefined
  const parts = {
    requestLines: new Map(routes.map((route) => [`${route} HTTP/1.1`, requestLineOf(route)])),
    limits,
    keepAliveLines: keepAliveLines(limits),
    onRequest: (request: unknown, response: unknown) => void server.emit('request', request, response),
    onHandOver(connection: HotConnection, unread: Buffer) {
      remove(connection)
      const { socket } = connection
      socket.pause()
      for (const listener of nodesListeners) listener.call(server, socket)
      socket.unshift(unread)
      socket.resume()
    },
    onFault(socket: Socket, code: string) {
      const fault = Object.assign(new Error(code), { code })
      if (!server.emit('clientError', fault, socket)) socket.destroy()
    },
    onClosed: remove,
  }

  function remove(connection: HotConnection): void {
    connections.delete(connection)
    if (connections.size > 0) return
    clearInterval(timer)
    timer = undefined
  }

  function checkAll(): void {
    const now = performance.now()
    for (const connection of connections) connection.checkAt(now)
  }

  server.removeAllListeners('connection')
  server.on('connection', (socket: Socket) => {
    connections.add(new HotConnection(socket, parts))
    timer ??= setInterval(checkAll, limits.connectionsCheckMs).unref()
  })
  endWith(server, 'closeIdleConnections', () => {
    for (const connection of connections) if (connection.isIdle) connection.destroy()
  })
  endWith(server, 'closeAllConnections', () => {
    for (const connection of connections) connection.destroy()
  })
}

/** The server's own method does this as well. */
function endWith(
  server: Server,
  name: 'closeIdleConnections' | 'closeAllConnections',
  end: () => void,
): void {
  const endNodes = server[name].bind(server)
  server[name] = () => {
    end()
    endNodes()
  }
}

function requestLineOf(route: string): RequestLine {
  const [method = '', url = ''] = route.split(' ')
  return { method, url }
}

/** As Node writes them. */
function keepAliveLines({ keepAliveTimeoutMs, requestsPerSocketMax }: HotLimits): string {
  const seconds = Math.floor(keepAliveTimeoutMs / 1000)
  return `Connection: keep-alive\r\nKeep-Alive: timeout=${seconds}, max=${requestsPerSocketMax}\r\n`
}
