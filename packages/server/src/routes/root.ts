import type { FastifyInstance } from 'fastify'
import { JSON_TYPE } from '../http/json-type.ts'
import type { Operation } from '../openapi/operation.ts'

const LINKS = { docs: '/docs', console: '/console/', openApi: '/openapi.json', ready: '/health/ready' }

export const rootOperation: Operation = {
  method: 'get',
  path: '/',
  id: 'getRoot',
  tag: 'operations',
  access: ['read'],
  summary: 'Name this server, and link to its pages',
  answers: {
    200: {
      description: 'Links into this server.',
      schema: 'Root',
      example: { name: 'counterstep', version: '0.1.0', links: LINKS },
    },
  },
  problems: [],
}

/** A link is left out if it leads to a page that this server does not have. */
export function buildRootRoute(version: string, pages: Readonly<Record<'docs' | 'console', boolean>>) {
  return async function addRootRoute(app: FastifyInstance): Promise<void> {
    const links = Object.entries(LINKS).filter(
      ([name]) => !(name in pages) || pages[name as keyof typeof pages],
    )
    const placed = Object.fromEntries(links.map(([name, path]) => [name, app.prefix + path]))
    const text = JSON.stringify({ name: 'counterstep', version, links: placed })
    app.get('/', { config: { access: rootOperation.access } }, function getRoot(_request, reply) {
      reply.header('content-type', JSON_TYPE).send(text)
    })
  }
}
