import { readActor, readCaller } from '@counterstep/access'
import type { SavedViewsApi } from '@counterstep/engine'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { createMediaTypeError, takeJson } from '../../http/json-body.ts'
import { JSON_TYPE } from '../../http/json-type.ts'
import { takeNoBody } from '../../http/no-body.ts'
import { parseViewRequest } from './parse-view-request.ts'
import { listViewsOperation, removeViewOperation, saveViewOperation } from './view-operations.ts'

/** The longest name and filter fit, if each character is written as an escape. */
const BODY_BYTES_MAX = 16 * 1024

export function buildViewRoutes(views: SavedViewsApi, handlerTimeoutMs: number) {
  return async function addViewRoutes(app: FastifyInstance): Promise<void> {
    app.register(addSaveRoute)
    app.register(addOtherRoutes)
  }

  async function addSaveRoute(app: FastifyInstance): Promise<void> {
    takeJson(app, BODY_BYTES_MAX)
    const options = { config: { access: saveViewOperation.access }, handlerTimeout: handlerTimeoutMs }
    app.post('/v1/views', options, async function saveView(request, reply) {
      if (request.headers['content-type'] === undefined) throw createMediaTypeError()
      return send(reply, await views.save(parseViewRequest(request.body), readActor(request.raw)))
    })
  }

  async function addOtherRoutes(app: FastifyInstance): Promise<void> {
    takeNoBody(app)
    const read = { config: { access: listViewsOperation.access }, handlerTimeout: handlerTimeoutMs }
    app.get('/v1/views', read, async (request, reply) =>
      send(reply, { items: await views.list(readCaller(request.raw)) }),
    )
    const remove = { config: { access: removeViewOperation.access }, handlerTimeout: handlerTimeoutMs }
    app.delete('/v1/views/:id', remove, async function removeView(request, reply) {
      const caller = readCaller(request.raw)
      await views.remove(String((request.params as { readonly id: string }).id))
      return send(reply, { items: await views.list(caller) })
    })
  }
}

function send(reply: FastifyReply, value: unknown): FastifyReply {
  return reply.header('content-type', JSON_TYPE).send(JSON.stringify(value))
}
