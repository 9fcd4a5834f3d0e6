import type { FastifyInstance } from 'fastify'

const IDLE_CHECK_MS = 50

/**
 * Makes each answer the last of its connection once the engine stops. A client that kept the connection would find it
 * closed, instead of getting its next answer.
 */
export function endConnectionsWhileStopping(
  app: FastifyInstance,
  engine: { readonly isStopping: boolean },
): void {
  app.addHook('onSend', function endConnection(_request, reply, payload, done) {
    if (engine.isStopping) reply.header('connection', 'close')
    done(null, payload)
  })
}

/**
 * Ends each connection as soon as its last answer is sent, while the app closes. Node ends only those that are idle
 * when the close begins; one whose answer comes later would keep the process running for its whole keep-alive time.
 */
export function endIdleConnectionsWhileClosing(app: FastifyInstance): void {
  app.addHook('preClose', (done) => {
    const timer = setInterval(() => app.server.closeIdleConnections(), IDLE_CHECK_MS)
    app.server.once('close', () => clearInterval(timer))
    timer.unref()
    done()
  })
}
