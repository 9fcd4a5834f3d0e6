import type { Gate } from '@counterstep/access'
import type { EngineApi, EngineHealth } from '@counterstep/engine'
import type { ErrorCode } from '@counterstep/protocol'
import type { FastifyInstance } from 'fastify'
import { JSON_TYPE } from '../http/json-type.ts'
import { buildProblem } from '../http/problem.ts'
import { sendProblem } from '../http/send-problem.ts'
import type { Operation } from '../openapi/operation.ts'

export const readyOperation: Operation = {
  method: 'get',
  path: '/health/ready',
  id: 'getReadiness',
  tag: 'operations',
  access: 'open',
  summary: 'Tell whether new work is taken, and how durable the store is',
  description:
    'If no new work is taken, the problem has the same members beside its own. Where there are keys, only a key with the scope read sees more than status and reason.',
  answers: {
    200: {
      description: 'New work is taken.',
      schema: 'Readiness',
      example: {
        status: 'ready',
        store: { name: 'sqlite', durabilityClass: 'A', failover: 'none', forced: false },
        inFlight: 12,
        inFlightMax: 4096,
        insecure: [],
      },
    },
  },
  problems: ['SAGA_STORE_UNAVAILABLE', 'SAGA_STORE_FULL'],
}

const CODE_OF_REASON = {
  stopping: 'SAGA_STOPPING',
  'store-unavailable': 'SAGA_STORE_UNAVAILABLE',
  'store-full': 'SAGA_STORE_FULL',
} as const satisfies Readonly<Record<NonNullable<EngineHealth['reason']>, ErrorCode>>

/** Holds facts that were decided when the server started. */
export interface StartFacts {
  readonly storeForced: boolean
  readonly insecure: readonly string[]
}

export function buildReadyRoute(engine: EngineApi, gate: Pick<Gate, 'allowsScope'>, facts: StartFacts) {
  return async function addReadyRoute(app: FastifyInstance): Promise<void> {
    app.get(
      '/health/ready',
      { config: { access: readyOperation.access } },
      function getReadiness(request, reply) {
        const health = engine.health()
        // The route is open to a probe without a key. Such a probe is told neither the store nor the protections that
        // are off.
        const readiness = gate.allowsScope('read', request.raw)
          ? toReadiness(health, facts)
          : toOutcome(health)
        if (health.ready) {
          reply.header('content-type', JSON_TYPE).send(JSON.stringify(readiness))
          return
        }
        const code = CODE_OF_REASON[health.reason ?? 'store-unavailable']
        const problem = buildProblem(code, { detail: 'new work is not taken now' })
        // RFC 9457 allows further members beside its own.
        sendProblem(reply, { ...readiness, ...problem, status: problem.status })
      },
    )
  }
}

function toOutcome({ ready, reason }: EngineHealth) {
  return { status: ready ? 'ready' : 'not-ready', ...(reason === undefined ? {} : { reason }) }
}

function toReadiness(health: EngineHealth, { storeForced, insecure }: StartFacts) {
  const { name, durabilityClass, failover, commands } = health.store
  return {
    ...toOutcome(health),
    store: {
      ...{ name, durabilityClass, failover, forced: storeForced },
      ...(commands !== undefined && { commands }),
    },
    inFlight: health.inFlight,
    inFlightMax: health.inFlightMax,
    insecure,
  }
}
