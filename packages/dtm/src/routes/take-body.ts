import type { FastifyInstance, FastifyRequest } from 'fastify'

/** Lets every body be a text that the route reads, because DTM ignores the content type of a request. */
export function takeBodiesAsText(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  // Fastify refuses a content type that is no media type before it asks any parser, so the header is replaced here.
  app.addHook('onRequest', function forgetContentType({ raw }, _reply, done) {
    if (raw.headers['content-type'] !== undefined) raw.headers['content-type'] = 'text/plain'
    done()
  })
  app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body))
}

/** Returns the body and takes it off the request, since its caller may wait for a minute. */
export function takeBody(request: FastifyRequest): string {
  const { body } = request
  request.body = undefined
  return typeof body === 'string' ? body : ''
}
