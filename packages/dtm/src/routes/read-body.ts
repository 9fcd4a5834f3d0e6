import type { FastifyInstance, FastifyRequest } from 'fastify'

/** DTM does not look at the content type: every body is a text, which the route reads. */
export function takeBodiesAsText(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  // Fastify does: what is no media type it refuses before any parser is asked.
  app.addHook('onRequest', function forgetContentType({ raw }, _reply, done) {
    if (raw.headers['content-type'] !== undefined) raw.headers['content-type'] = 'text/plain'
    done()
  })
  app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body))
}

export function bodyOf({ body }: FastifyRequest): string {
  return typeof body === 'string' ? body : ''
}
