import { readCaller } from '@counterstep/access'
import type { EngineApi } from '@counterstep/engine'
import {
  type Fault,
  InvalidRequestError,
  OPERATOR_COMMANDS,
  OPS,
  type PreviewRequest,
} from '@counterstep/protocol'
import type { FastifyInstance } from 'fastify'
import { takeCommandBody } from '../http/command-body.ts'
import { JSON_TYPE } from '../http/json-type.ts'
import { readGid } from '../http/read-gid.ts'
import { planExample, previewRequestExample } from '../openapi/examples.ts'
import type { Operation } from '../openapi/operation.ts'
import { gidParameter } from './gid-parameter.ts'
import { isPauseEnd, PAUSE_END_RULE } from './pause.ts'

const FIELDS: readonly string[] = ['command', 'op', 'doneBy', 'until']

export const previewOperation: Operation = {
  method: 'post',
  path: '/v1/transactions/{gid}/preview',
  id: 'previewCommand',
  tag: 'transactions',
  access: ['read'],
  summary: 'Ask what would follow from a command',
  description:
    'Nothing is changed and nothing is called. A command that carries the planId is refused if something else would follow by then.',
  parameters: [gidParameter],
  body: { schema: 'PreviewRequest', required: true, examples: { abort: previewRequestExample } },
  answers: {
    200: { description: 'The calls that would be made.', schema: 'PlanView', example: planExample },
  },
  problems: [
    'SAGA_GID_INVALID',
    'SAGA_INVALID',
    'SAGA_MALFORMED_JSON',
    'SAGA_NUMBER_NOT_EXACT',
    'SAGA_UNKNOWN_FIELD',
    'SAGA_BODY_TOO_LARGE',
    'SAGA_UNSUPPORTED_MEDIA_TYPE',
    'SAGA_UNKNOWN_GID',
    'SAGA_TOO_MANY_READS',
    'SAGA_STORE_UNAVAILABLE',
    'SAGA_STORE_CLOSED',
  ],
}

export function buildPreviewRoute(engine: EngineApi, handlerTimeoutMs: number) {
  return async function addPreviewRoute(app: FastifyInstance): Promise<void> {
    takeCommandBody(app)
    const config = { access: previewOperation.access }
    const options = { config, handlerTimeout: handlerTimeoutMs }
    app.post('/v1/transactions/:gid/preview', options, async function preview(request, reply) {
      const gid = readGid(request)
      const plan = await engine.preview(gid, readPreview(request.body), readCaller(request.raw))
      return reply.header('content-type', JSON_TYPE).send(JSON.stringify(plan))
    })
  }
}

function readPreview(body: unknown): PreviewRequest {
  const fields = isObject(body) ? body : {}
  const { command, op, doneBy, until } = fields
  const faults: Fault[] = []
  const check = (isSound: boolean, path: string, message: string) => {
    if (!isSound) faults.push({ code: 'SAGA_INVALID', path, message })
  }
  if (Object.keys(fields).some((name) => !FIELDS.includes(name)))
    faults.push({
      code: 'SAGA_UNKNOWN_FIELD',
      path: '',
      message: `a preview takes ${FIELDS.join(', ')} only`,
    })
  check(isAmong(command, OPERATOR_COMMANDS), '/command', `must be one of ${OPERATOR_COMMANDS.join(', ')}`)
  check(op === undefined || isOpName(op), '/op', `must have a branchId, and an op of ${OPS.join(', ')}`)
  check(doneBy === undefined || isAmong(doneBy, ['service', 'hand']), '/doneBy', 'must be service or hand')
  check(until === undefined || isPauseEnd(until), '/until', PAUSE_END_RULE)
  const [first, ...others] = faults
  if (first !== undefined) throw new InvalidRequestError([first, ...others])
  return fields as unknown as PreviewRequest
}

function isAmong(value: unknown, words: readonly string[]): boolean {
  return typeof value === 'string' && words.includes(value)
}

function isOpName(value: unknown): boolean {
  return isObject(value) && typeof value.branchId === 'string' && isAmong(value.op, OPS)
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
