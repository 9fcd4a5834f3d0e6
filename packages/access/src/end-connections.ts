import type { FastifyInstance } from 'fastify'

const IDLE_CHECK_MS = 50

/**
 * From the stop on, each answer is the last of its connection. A client that kept the connection would meet its end
 * instead of an answer.
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
 * While the app closes, a connection goes as soon as its last answer is out. Node ends only those that are idle at the
 * start of the close; one whose answer comes later would hold the process for its whole keep-alive time.
 */
export function endIdleConnectionsWhileClosing(app: FastifyInstance): void {
  app.addHook('preClose', (done) => {
    const timer = setInterval(() => app.server.closeIdleConnections(), IDLE_CHECK_MS)
    app.server.once('close', () => clearInterval(timer))
    timer.unref()
    done()
  })
}
