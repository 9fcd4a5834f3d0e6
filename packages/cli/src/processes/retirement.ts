import { Server } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { buildApp } from '@counterstep/server'

// An import of node:http would load the built-in fetch with it.
const { Server: HttpServer } = process.getBuiltinModule('node:http')

type App = ReturnType<typeof buildApp>

/** A client that keeps a connection and sends nothing on it finds it closed after that. */
const CONNECTIONS_MS_MAX = 8_000
const LOOK_EVERY_MS = 20

/**
 * Hands the connections of a process over to the others on its port, before the process stops: it takes no new one, serves each
 * that is there once more, and says in that answer that it was the last. So no client meets a server that is stopping.
 */
export class Retirement {
  readonly #servers: Server[] = []
  readonly #drains: (() => void)[] = []
  #isBegun = false

  /** It has to be called before the app listens. */
  follow(app: App): void {
    app.addHook('onSend', (_request, reply, payload, done) => {
      if (this.#isBegun) reply.header('connection', 'close')
      done(null, payload)
    })
  }

  /** The app takes connections through these. */
  add(servers: readonly Server[]): void {
    this.#servers.push(...servers)
  }

  /** It is called when the retirement begins, for connections that no answer ends. */
  onBegin(drain: () => void): void {
    this.#drains.push(drain)
  }

  /** Resolves when no connection is left, or its time is over. */
  async begin(): Promise<void> {
    this.#isBegun = true
    // An HTTP server's own close would end idle connections at once, and with them what is on its way there.
    for (const server of this.#servers) Server.prototype.close.call(server)
    for (const drain of this.#drains) drain()
    const endAt = performance.now() + CONNECTIONS_MS_MAX
    while ((await this.#countConnections()) > 0 && performance.now() < endAt) await delay(LOOK_EVERY_MS)
    // A request on one of these would be refused, now that the stop begins.
    for (const server of this.#servers) if (server instanceof HttpServer) server.closeIdleConnections()
  }

  async #countConnections(): Promise<number> {
    const counts = await Promise.all(this.#servers.map(countConnections))
    return counts.reduce((sum, count) => sum + count, 0)
  }
}

function countConnections(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.getConnections((error, count) => (error === null ? resolve(count) : reject(error)))
  })
}
