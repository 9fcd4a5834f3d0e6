import { CounterstepError } from '@counterstep/protocol'
import type { FastifyInstance } from 'fastify'

/** While the app closes, what arrives on an open connection is answered 503 SAGA_STOPPING. */
export function refuseWhileClosing(app: FastifyInstance): void {
  let isClosing = false
  app.addHook('preClose', (done) => {
    isClosing = true
    done()
  })
  app.addHook('onRequest', function refuse(_request, _reply, done) {
    if (isClosing) done(new CounterstepError('SAGA_STOPPING', 'this node is stopping'))
    else done()
  })
}
