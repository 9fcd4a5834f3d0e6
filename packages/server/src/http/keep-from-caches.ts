import type { FastifyInstance } from 'fastify'

/**
 * Lets no cache keep what was read by a session. A shared cache keeps no answer to an `Authorization` of its own accord,
 * but it may keep one to a cookie, and show it to the next caller. Call it before the routes are added.
 */
export function keepSessionsFromCaches(app: FastifyInstance): void {
  app.addHook('onSend', function forbidCaching(request, reply, payload, done) {
    if (request.headers.cookie !== undefined && !reply.hasHeader('cache-control'))
      reply.header('cache-control', 'no-store')
    done(null, payload)
  })
}
