import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

const NOT_FOUND = '404 page not found'

/**
 * Answers as gin does: with 404 in plain text, also for a known path with another method. A path that has a slash too
 * many at its end is redirected. Call it before routes are added.
 */
export function answerUnknownRoutes(app: FastifyInstance): void {
  // Fastify's `hasRoute` takes what it is asked for as a pattern, and compiles regular expressions of its parameters.
  const known = new Set<string>()
  app.addHook('onRoute', function noteRoute({ method, url }) {
    for (const each of [method].flat()) known.add(`${each} ${url}`)
  })
  function answerUnknownRoute(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const [path = '', query] = request.url.split('?', 2)
    const url = path.slice(0, -1)
    if (!path.endsWith('/') || !known.has(`${request.method} ${url}`))
      return reply.code(404).header('content-type', 'text/plain').send(NOT_FOUND)
    const location = query === undefined ? url : `${url}?${query}`
    if (request.method !== 'GET') return reply.code(307).header('location', location).send()
    return reply
      .code(301)
      .header('location', location)
      .header('content-type', 'text/html; charset=utf-8')
      .send(`<a href="${escapeHtml(location)}">Moved Permanently</a>.\n\n`)
  }
  // The answer comes before the body, so a body that no route takes is never read.
  app.addHook('onRequest', function answerAtHead(request, reply, done) {
    if (request.is404) answerUnknownRoute(request, reply)
    else done()
  })
  app.setNotFoundHandler(answerUnknownRoute)
}

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('"', '&#34;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
}
