import { readCaller } from '@counterstep/access'
import type { EngineApi } from '@counterstep/engine'
import { copyText, SIGNAL_BYTES_MAX } from '@counterstep/protocol'
import type { FastifyInstance } from 'fastify'
import { createMediaTypeError, takeBody, takeJson } from '../http/json-body.ts'
import { JSON_TYPE } from '../http/json-type.ts'
import { readGid } from '../http/read-gid.ts'
import { signalExample, signalTakenExample } from '../openapi/examples.ts'
import type { Operation } from '../openapi/operation.ts'
import { gidParameter } from './gid-parameter.ts'

/** The largest payload fits even if each of its characters is written as an escape. */
const SIGNAL_BODY_BYTES_MAX = 8 * SIGNAL_BYTES_MAX

export const signalOperation: Operation = {
  method: 'post',
  path: '/v1/transactions/{gid}/signals/{name}',
  id: 'signalTransaction',
  tag: 'transactions',
  access: ['signal'],
  summary: 'Give a saga a signal that it waits for',
  description:
    'A branch that waits for a signal of this name takes it. A signal that comes before that is kept. The same signal again changes nothing and is answered as before, also after the end.',
  parameters: [
    gidParameter,
    {
      name: 'name',
      in: 'path',
      required: true,
      description: 'The name that the branch waits for, percent-encoded.',
      schema: { type: 'string', minLength: 1 },
    },
  ],
  body: { schema: 'SignalRequest', required: true, examples: { approval: signalExample } },
  answers: {
    200: { description: 'The signal is durable.', schema: 'SignalView', example: signalTakenExample },
  },
  problems: [
    'SAGA_MALFORMED_JSON',
    'SAGA_UNSUPPORTED_MEDIA_TYPE',
    'SAGA_BODY_TOO_LARGE',
    'SAGA_GID_INVALID',
    'SAGA_UNKNOWN_FIELD',
    'SAGA_SIGNAL_INVALID',
    'SAGA_PAYLOAD_TOO_DEEP',
    'SAGA_NUMBER_NOT_EXACT',
    'SAGA_UNKNOWN_GID',
    'SAGA_WRONG_KIND',
    'SAGA_SIGNAL_UNKNOWN',
    'SAGA_SIGNAL_CONFLICT',
    'SAGA_TOO_MANY_SIGNALS',
    'SAGA_TURNED_AROUND',
    'SAGA_ALREADY_FINAL',
    'SAGA_QUOTA_EXCEEDED',
    'SAGA_CONTENDED',
    'SAGA_OVER_CAPACITY',
    'SAGA_STORE_UNAVAILABLE',
    'SAGA_STORE_CLOSED',
  ],
}

export function buildSignalRoute(engine: EngineApi, handlerTimeoutMs: number) {
  return async function addSignalRoute(app: FastifyInstance): Promise<void> {
    takeJson(app, SIGNAL_BODY_BYTES_MAX)
    const config = { access: signalOperation.access, stores: 'branch' } as const
    app.post(
      '/v1/transactions/:gid/signals/:name',
      { config, handlerTimeout: handlerTimeoutMs },
      async function giveSignal(request, reply) {
        if (request.headers['content-type'] === undefined) throw createMediaTypeError()
        const view = await engine.signal(
          readGid(request),
          readName(request.params),
          takeBody(request),
          readCaller(request.raw),
        )
        return reply.header('content-type', JSON_TYPE).send(JSON.stringify(view))
      },
    )
  }
}

/** Reads the name from the path, which the router has percent-decoded. It is kept with the signal, so it is a copy, which does not keep the URL. */
function readName(params: unknown): string {
  return copyText(String((params as { readonly name: string }).name))
}
