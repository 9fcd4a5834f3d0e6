import type { FastifyInstance, FastifyRequest } from 'fastify'

/** DTM does not look at the content type: every body is a text, which the route reads. */
export function takeBodiesAsText(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body))
}

export function bodyOf({ body }: FastifyRequest): string {
  return typeof body === 'string' ? body : ''
}
