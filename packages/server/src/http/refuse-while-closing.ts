import { CounterstepError } from '@counterstep/protocol'
import type { FastifyInstance } from 'fastify'

/** Answers 503 SAGA_STOPPING to requests that arrive on open connections while the app closes. */
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
