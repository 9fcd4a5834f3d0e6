import type { ConnectionBounds } from '@counterstep/access'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { sendRouteUnknown } from '../http/unknown-route.ts'
import type { Operation } from '../openapi/operation.ts'
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
/** A name begins with no dot, so that no path leaves the folder and no hidden file is shown. */
const FILE = /^[A-Za-z0-9_-][A-Za-z0-9._-]*(?:\/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$/
/** They are sent in place of the file whose name they continue. */
const COMPRESSED = /\.gz$/
/** A file that is being sent holds a descriptor, and buffers of about this size. */
const OPEN_FILE_BYTES = 128 * 1024

/** Adds the files of the console. Everyone may read them, since a browser has no key before its page is there. */
export function buildConsoleRoutes(
  directory: ConsoleDirectory,
  bounds: Pick<ConnectionBounds, 'holdAnswer'>,
) {
  return async function addConsoleRoutes(app: FastifyInstance): Promise<void> {
    // The plugin is imported only here, so that the bundle of a Lambda function can leave it out.
    const { fastifyStatic } = await import('@fastify/static')
    await app.register(fastifyStatic, { serve: false, preCompressed: true, cacheControl: false })
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
      const file = readFile(request)
      if (file === undefined) return sendRouteUnknown(reply)
      const folder = await directory()
      bounds.holdAnswer(request.raw, reply.raw, OPEN_FILE_BYTES)
      reply.header('cache-control', chooseCaching(file))
      return reply.sendFile(file, folder)
    })
  }
}

/** They have to be under a prefix of their own, so that the answer to an unknown file is theirs. */
export const CONSOLE_ROUTES = { prefix: ROOT } as const

function readFile(request: FastifyRequest): string | undefined {
  const { '*': path } = request.params as { readonly '*': string }
  const file = path === '' ? PAGE : path
  return FILE.test(file) && !COMPRESSED.test(file) ? file : undefined
}

function chooseCaching(file: string): string {
  if (file === PAGE) return 'no-store'
  return HASHED.test(file) ? 'public, max-age=31536000, immutable' : 'no-cache'
}
