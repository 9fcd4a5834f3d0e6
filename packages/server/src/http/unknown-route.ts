import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { buildProblem } from './problem.ts'
import { sendProblem } from './send-problem.ts'

interface KnownPath {
  readonly pattern: RegExp
  readonly methods: Set<string>
}

/**
 * Answers a request that has no route: 405 with Allow if the path has other methods, else 404. Call it before the
 * routes are added.
 */
export function answerUnknownRoutes(app: FastifyInstance): void {
  const paths = new Map<string, KnownPath>()
  app.addHook('onRoute', (route) => {
    const known = paths.get(route.url) ?? { pattern: toPattern(route.url), methods: new Set() }
    for (const method of [route.method].flat()) known.methods.add(method)
    paths.set(route.url, known)
  })
  function answerUnknownRoute(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const path = request.url.split('?', 1)[0] ?? ''
    const known = [...paths.values()].find(({ pattern }) => pattern.test(path))
    if (known === undefined) return sendRouteUnknown(reply)
    reply.header('allow', [...known.methods].sort().join(', '))
    const detail = 'this path does not take this method; see Allow'
    return sendProblem(reply, buildProblem('SAGA_METHOD_NOT_ALLOWED', { detail }))
  }
  // This hook answers before the body is read, so the body of such a request is never read.
  app.addHook('onRequest', function answerAtHead(request, reply, done) {
    if (request.is404) answerUnknownRoute(request, reply)
    else done()
  })
  app.setNotFoundHandler(answerUnknownRoute)
}

export function sendRouteUnknown(reply: FastifyReply): FastifyReply {
  return sendProblem(reply, buildProblem('SAGA_ROUTE_UNKNOWN', { detail: 'there is nothing at this path' }))
}

function toPattern(url: string): RegExp {
  const segments = url.split('/').map((segment) => {
    if (segment.startsWith(':')) return '[^/]+'
    return segment === '*' ? '.*' : segment.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&')
  })
  return new RegExp(`^${segments.join('/')}$`)
}
