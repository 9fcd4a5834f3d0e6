import type { EngineApi } from '@counterstep/engine'
import { CounterstepError } from '@counterstep/protocol'
import type { FastifyInstance } from 'fastify'

const IDLE_CHECK_MS = 50

/**
 * While the app closes, what arrives on an open connection is answered 503 SAGA_STOPPING, and a connection goes as
 * soon as its last answer is out. Node ends only those that are idle at the start of the close; one whose answer
 * comes later would hold the process for its whole keep-alive time.
 */
export function refuseWhileClosing(app: FastifyInstance): void {
  let isClosing = false
  app.addHook('preClose', (done) => {
    isClosing = true
    const timer = setInterval(() => app.server.closeIdleConnections(), IDLE_CHECK_MS)
    app.server.once('close', () => clearInterval(timer))
    timer.unref()
    done()
  })
  app.addHook('onRequest', function refuse(_request, _reply, done) {
    if (isClosing) done(new CounterstepError('SAGA_STOPPING', 'this node is stopping'))
    else done()
  })
}

/** From the stop on each answer is its connection's last: a client that kept it would meet its end instead of an answer. */
export function endConnectionsWhileStopping(
  app: FastifyInstance,
  engine: Pick<EngineApi, 'isStopping'>,
): void {
  app.addHook('onSend', function endConnection(_request, reply, payload, done) {
    if (engine.isStopping) reply.header('connection', 'close')
    done(null, payload)
  })
}
