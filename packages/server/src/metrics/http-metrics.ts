import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Registry } from 'prom-client'
import { type Count, CountFamily } from './count-family.ts'
import { DurationFamily } from './duration-family.ts'

const BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

/**
 * Counts answers by method, route pattern and status, all of which are bounded. Each route gets a hook of its own that
 * knows its labels, since reading `request.routeOptions` builds an object. Requests without a route are not counted.
 */
export function countAnswers(app: FastifyInstance, registry: Registry): void {
  const durations = new DurationFamily(
    {
      name: 'counterstep_http_request_duration_seconds',
      help: 'Time from the head of a request to the end of its answer.',
      labelNames: ['method', 'route'],
      buckets: BUCKETS_SECONDS,
    },
    registry,
  )
  const answers = new CountFamily(
    {
      name: 'counterstep_http_answers_total',
      help: 'Answers by status.',
      labelNames: ['method', 'route', 'status'],
    },
    registry,
  )
  app.addHook('onRoute', (route) => {
    const method = String(route.method)
    const duration = durations.makeChild(method, route.url)
    const statuses = new Map<number, Count>()
    function countAnswer(_request: FastifyRequest, reply: FastifyReply, done: () => void): void {
      const { statusCode } = reply
      let child = statuses.get(statusCode)
      if (child === undefined) {
        child = answers.makeChild(method, route.url, String(statusCode))
        statuses.set(statusCode, child)
      }
      child.increment()
      duration.observe(reply.elapsedTime / 1000)
      done()
    }
    route.onResponse = [countAnswer, ...[route.onResponse ?? []].flat()]
  })
}
