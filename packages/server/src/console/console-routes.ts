import type { ConnectionBounds } from '@counterstep/access'
import type { FastifyInstance } from 'fastify'
import { sendRouteUnknown } from '../http/unknown-route.ts'
import { makeOnce } from '../make-once.ts'
import type { Operation } from '../openapi/operation.ts'
import { readConsoleFiles, takesGzip } from './console-files.ts'
import { CONSOLE_HEADERS } from './console-headers.ts'

export const consoleOperation: Operation = {
  method: 'get',
  path: '/console/',
  id: 'getConsole',
  tag: 'operations',
  access: 'open',
  summary: 'Show the console, a page for people',
  description: 'Its files hold nothing of the transactions. What the page reads needs a key or a session.',
  answers: { 200: { description: 'A page.', contentType: 'text/html' } },
  problems: ['SAGA_ROUTE_UNKNOWN'],
}

/** Returns the folder of the built console. In a clone it may have to be built first. */
export type ConsoleDirectory = () => string | Promise<string>

const PAGE = 'index.html'
const ROOT = '/console'
/** The names of these files have a hash of their content. */
const HASHED = /^assets\//

/** Adds the files of the console. Everyone may read them, since a browser has no key before its page is there. */
export function buildConsoleRoutes(
  directory: ConsoleDirectory,
  bounds: Pick<ConnectionBounds, 'holdAnswer'>,
) {
  return async function addConsoleRoutes(app: FastifyInstance): Promise<void> {
    const openFiles = makeOnce(async () => readConsoleFiles(await directory()))
    app.setNotFoundHandler((_request, reply) => sendRouteUnknown(reply))
    app.addHook('onSend', (_request, reply, payload, done) => {
      reply.headers(CONSOLE_HEADERS)
      done(null, payload)
    })
    const options = { config: { access: consoleOperation.access } }
    // A relative address stays right behind a proxy that has put a prefix before ours.
    app.get('', options, (_request, reply) => {
      reply.header('cache-control', 'no-store').redirect('console/', 302)
    })
    app.get('/*', options, async function sendConsoleFile(request, reply) {
      const { '*': path } = request.params as { readonly '*': string }
      const name = path === '' ? PAGE : path
      const file = (await openFiles()).get(name)
      if (file === undefined) return sendRouteUnknown(reply)
      const { type, bytes, gzipped } = file
      const isGzipped = gzipped !== undefined && takesGzip(request.headers['accept-encoding'])
      const sent = isGzipped ? gzipped : bytes
      bounds.holdAnswer(request.raw, reply.raw, sent.length)
      reply.type(type).header('cache-control', chooseCaching(name)).header('vary', 'accept-encoding')
      if (isGzipped) reply.header('content-encoding', 'gzip')
      return reply.send(sent)
    })
  }
}

/** They have to be under a prefix of their own, so that the answer to an unknown file is theirs. */
export const CONSOLE_ROUTES = { prefix: ROOT } as const

function chooseCaching(file: string): string {
  if (file === PAGE) return 'no-store'
  return HASHED.test(file) ? 'public, max-age=31536000, immutable' : 'no-cache'
}
