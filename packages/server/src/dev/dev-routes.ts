import type { FastifyInstance, FastifyReply } from 'fastify'
import { takeJson } from '../http/json-body.ts'
import { JSON_TYPE } from '../http/json-type.ts'
import type { Operation } from '../openapi/operation.ts'
import type { Breaks } from './breaks.ts'
import { readBreak } from './read-break.ts'

const BREAK_BYTES_MAX = 8 * 1024

const breakExample = { url: 'http://127.0.0.1:8472/credit', op: 'action', next: 1, how: 'answer-409' }
const devExample = { breaks: [{ ...breakExample, id: '1' }] }

export const devOperation: Operation = {
  method: 'get',
  path: '/v1/dev',
  id: 'getDev',
  tag: 'operations',
  access: ['read'],
  summary: 'List the breaks in force',
  description: 'Only counterstep dev has this route.',
  answers: { 200: { description: 'The breaks.', schema: 'DevView', example: devExample } },
  problems: [],
}

export const breakOperation: Operation = {
  method: 'post',
  path: '/v1/dev/break',
  id: 'breakCalls',
  tag: 'operations',
  access: ['operate'],
  summary: 'Break the next calls to a branch on purpose',
  description: 'Only counterstep dev has this route. `next: 0` takes back the breaks of the same calls.',
  body: { schema: 'BreakRequest', required: true, examples: { refuse: breakExample } },
  answers: { 200: { description: 'The breaks in force.', schema: 'DevView', example: devExample } },
  problems: ['SAGA_MALFORMED_JSON', 'SAGA_UNSUPPORTED_MEDIA_TYPE', 'SAGA_BODY_TOO_LARGE', 'SAGA_INVALID'],
}

export function buildDevRoutes(breaks: Breaks) {
  return async function addDevRoutes(app: FastifyInstance): Promise<void> {
    takeJson(app, BREAK_BYTES_MAX)
    const send = (reply: FastifyReply) =>
      reply.header('content-type', JSON_TYPE).send(JSON.stringify({ breaks: breaks.list() }))
    app.get(devOperation.path, { config: { access: devOperation.access } }, (_request, reply) => {
      send(reply)
    })
    const options = { config: { access: breakOperation.access } }
    app.post(breakOperation.path, options, function breakCalls(request, reply) {
      breaks.add(readBreak(request.body))
      send(reply)
    })
  }
}
