import { readActor, readCaller } from '@counterstep/access'
import type { BulkApi } from '@counterstep/engine'
import { InvalidRequestError } from '@counterstep/protocol'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { createMediaTypeError, takeJson } from '../../http/json-body.ts'
import { JSON_TYPE } from '../../http/json-type.ts'
import { takeNoBody } from '../../http/no-body.ts'
import {
  BULK_JOB_COMMANDS,
  listBulkOperation,
  showBulkOperation,
  startBulkOperation,
} from './bulk-operations.ts'
import { parseBulkRequest } from './parse-bulk-request.ts'

/** A list of a thousand of the longest gids fits, if each character is written as an escape. */
const BODY_BYTES_MAX = 1024 * 1024

export function buildBulkRoutes(bulk: BulkApi, handlerTimeoutMs: number) {
  return async function addBulkRoutes(app: FastifyInstance): Promise<void> {
    app.register(addStartRoute)
    app.register(addJobRoutes)
  }

  async function addStartRoute(app: FastifyInstance): Promise<void> {
    takeJson(app, BODY_BYTES_MAX)
    const options = { config: { access: startBulkOperation.access }, handlerTimeout: handlerTimeoutMs }
    app.post('/v1/bulk', options, async function startBulk(request, reply) {
      if (request.headers['content-type'] === undefined) throw createMediaTypeError()
      const order = parseBulkRequest(request.body)
      if (readDryRun(request.query)) return send(reply, await bulk.preview(order, readCaller(request.raw)))
      return send(reply.code(202), await bulk.create(order, readActor(request.raw)))
    })
  }

  async function addJobRoutes(app: FastifyInstance): Promise<void> {
    takeNoBody(app)
    const read = { config: { access: listBulkOperation.access }, handlerTimeout: handlerTimeoutMs }
    app.get('/v1/bulk', read, async (request, reply) =>
      send(reply, { items: await bulk.list(readCaller(request.raw)) }),
    )
    const { access } = showBulkOperation
    app.get('/v1/bulk/:id', { ...read, config: { access } }, async (request, reply) =>
      send(reply, await bulk.show(readId(request.params), readCaller(request.raw))),
    )
    for (const command of BULK_JOB_COMMANDS) {
      const options = { config: { access: startBulkOperation.access }, handlerTimeout: handlerTimeoutMs }
      app.post(`/v1/bulk/:id/${command}`, options, async (request, reply) =>
        send(reply, await bulk.command(readId(request.params), command, readCaller(request.raw))),
      )
    }
  }
}

function send(reply: FastifyReply, value: unknown): FastifyReply {
  return reply.header('content-type', JSON_TYPE).send(JSON.stringify(value))
}

function readId(params: unknown): string {
  return String((params as { readonly id: string }).id)
}

function readDryRun(query: unknown): boolean {
  const parameters = typeof query === 'object' && query !== null ? Object.entries(query) : []
  for (const [name, value] of parameters) {
    if (name !== 'dryRun' || (value !== 'true' && value !== 'false'))
      throw new InvalidRequestError([
        { code: 'SAGA_QUERY_INVALID', path: name.slice(0, 64), message: 'takes dryRun=true or dryRun=false' },
      ])
  }
  return parameters.some(([, value]) => value === 'true')
}
