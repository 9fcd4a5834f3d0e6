import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

/** A page counts ages and countdowns by this clock, since that of its browser may be wrong. */
export const NOW_HEADER = 'counterstep-now'

/** Makes every answer to a GET tell this server's time in epoch milliseconds. Call it before the routes are added. */
export function tellTime(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    if (route.method !== 'GET') return
    route.onSend = [writeTime, ...[route.onSend ?? []].flat()]
  })
}

function writeTime(
  _request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
  done: (error: null, payload: unknown) => void,
): void {
  reply.header(NOW_HEADER, String(Date.now()))
  done(null, payload)
}
