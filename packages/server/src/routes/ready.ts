import type { EngineApi, EngineHealth } from '@counterstep/engine'
import type { FastifyInstance } from 'fastify'
import { JSON_TYPE } from '../http/json-type.ts'
import { problemOf } from '../http/problem.ts'
import { sendProblem } from '../http/send-problem.ts'
import type { Operation } from '../openapi/operation.ts'

export const readyOperation: Operation = {
  method: 'get',
  path: '/health/ready',
  id: 'getReadiness',
  tag: 'operations',
  summary: 'Whether new work is taken, and how durable the store is',
  description: 'When it is not, the problem carries the same members beside its own.',
  answers: {
    200: {
      description: 'New work is taken.',
      schema: 'Readiness',
      example: {
        status: 'ready',
        store: { name: 'sqlite', durabilityClass: 'A', failover: 'none', forced: false },
        inFlight: 12,
        inFlightMax: 4096,
      },
    },
  },
  problems: ['SAGA_STORE_UNAVAILABLE'],
}

export function readyRoute(engine: EngineApi, storeForced: boolean) {
  return async function readyPlugin(app: FastifyInstance): Promise<void> {
    app.get('/health/ready', function getReadiness(_request, reply) {
      const health = engine.health()
      if (health.ready) {
        reply.header('content-type', JSON_TYPE).send(JSON.stringify(readinessOf(health, storeForced)))
        return
      }
      const code = health.reason === 'stopping' ? 'SAGA_STOPPING' : 'SAGA_STORE_UNAVAILABLE'
      const problem = problemOf(code, { detail: 'new work is not taken now' })
      // RFC 9457 extension members.
      sendProblem(reply, { ...readinessOf(health, storeForced), ...problem, status: problem.status })
    })
  }
}

function readinessOf({ ready, reason, store, inFlight, inFlightMax }: EngineHealth, forced: boolean) {
  const { name, durabilityClass, failover } = store
  return {
    status: ready ? 'ready' : 'not-ready',
    ...(reason === undefined ? {} : { reason }),
    store: { name, durabilityClass, failover, forced },
    inFlight,
    inFlightMax,
  }
}
