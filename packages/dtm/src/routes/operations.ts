import type { FastifyInstance } from 'fastify'
import type { DialectMetrics } from '../metrics/dialect-metrics.ts'
import { answerWith } from '../wire/answer.ts'
import { BASE_PATH } from './base-path.ts'
import { OPEN, READ } from './route-access.ts'
import { sendAnswer } from './send-answer.ts'

const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

export interface Operations {
  readonly metrics: DialectMetrics
  readonly version: string
  /** It returns the metrics of the whole node in Prometheus' text format. They follow the dialect's own. */
  readonly nodeMetrics: () => Promise<string>
}

export function addOperationRoutes(
  app: FastifyInstance,
  { metrics, version, nodeMetrics }: Operations,
): void {
  app.all('/api/ping', OPEN, (_request, reply) => sendAnswer(reply, answerWith({ msg: 'pong' })))
  app.get(`${BASE_PATH}/version`, READ, (_request, reply) => sendAnswer(reply, answerWith({ version })))
  app.get('/api/metrics', READ, async (_request, reply) =>
    sendAnswer(reply, {
      status: 200,
      body: metrics.text(version) + (await nodeMetrics()),
      contentType: METRICS_TYPE,
    }),
  )
}
