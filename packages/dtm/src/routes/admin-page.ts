import type { FastifyInstance } from 'fastify'
import { OPEN } from './route-access.ts'

/** DTM serves its own page for operators under these paths. */
const PATHS = ['/', '/admin', '/admin/*']
const HOST = /^[\w.-]+$|^\[[\da-f:]+\]$/i

/** Leads to the console, which has a port of its own on the same host. Without one the paths are unknown, as all others. */
export function addAdminPageRoutes(app: FastifyInstance, findConsolePort: () => number | undefined): void {
  for (const path of PATHS) {
    app.get(path, OPEN, (request, reply) => {
      const port = findConsolePort()
      const { hostname } = request
      if (port === undefined || !HOST.test(hostname))
        return reply.code(404).header('content-type', 'text/plain').send('404 page not found')
      return reply
        .header('cache-control', 'no-store')
        .redirect(`${request.protocol}://${hostname}:${port}/console/`)
    })
  }
}
