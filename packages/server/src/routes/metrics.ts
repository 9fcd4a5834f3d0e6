import type { FastifyInstance } from 'fastify'
import type { Registry } from '../metrics/registry.ts'
import type { Operation } from '../openapi/operation.ts'

export const metricsOperation: Operation = {
  method: 'get',
  path: '/metrics',
  id: 'getMetrics',
  tag: 'operations',
  access: ['read'],
  summary: 'Metrics in the text format of Prometheus',
  answers: { 200: { description: 'The metrics.', contentType: 'text/plain' } },
  problems: [],
}

export function buildMetricsRoute(
  { contentType }: Pick<Registry, 'contentType'>,
  readMetrics: () => Promise<string>,
  handlerTimeoutMs: number,
) {
  return async function addMetricsRoute(app: FastifyInstance): Promise<void> {
    const options = { config: { access: metricsOperation.access }, handlerTimeout: handlerTimeoutMs }
    app.get('/metrics', options, async function getMetrics(_request, reply) {
      return reply.header('content-type', contentType).send(await readMetrics())
    })
  }
}
