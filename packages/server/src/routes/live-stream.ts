import type { Gate } from '@counterstep/access'
import type { EngineApi } from '@counterstep/engine'
import { CounterstepError, GID_LENGTH_MAX } from '@counterstep/protocol'
import type { FastifyInstance } from 'fastify'
import { LIVE_GIDS_MAX, LIVE_TOPICS, readLiveQuery } from '../live/live-query.ts'
import { type LiveLimits, LiveStreams } from '../live/live-streams.ts'
import type { Operation } from '../openapi/operation.ts'

export const liveStreamOperation: Operation = {
  method: 'get',
  path: '/v1/live',
  id: 'getLive',
  tag: 'operations',
  access: ['read'],
  summary: 'Hear of changes as they come',
  description:
    'A stream of server-sent events. `overview` has an OverviewView each second. `view` has a TransactionView when one of the transactions has changed, four times a second at most. `fresh` has summaries of up to 50 transactions that were accepted, marked or ended on this node in the last second, and `fresh-more` how many more there were. It begins with all that it tells, so there is nothing to resume. It ends after 15 minutes at the latest; open another one then. A function has no such stream and answers 404.',
  parameters: [
    {
      name: 'topics',
      in: 'query',
      description: 'The values may be joined by commas.',
      schema: { type: 'array', items: { type: 'string', enum: LIVE_TOPICS } },
      style: 'form',
      explode: false,
    },
    {
      name: 'gid',
      in: 'query',
      description: 'The parameter may be repeated.',
      schema: {
        type: 'array',
        items: { type: 'string', maxLength: GID_LENGTH_MAX },
        maxItems: LIVE_GIDS_MAX,
      },
      style: 'form',
      explode: true,
    },
  ],
  answers: { 200: { description: 'The stream.', contentType: 'text/event-stream' } },
  problems: ['SAGA_QUERY_INVALID', 'SAGA_ROUTE_UNKNOWN', 'SAGA_TOO_MANY_STREAMS'],
}

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  // A proxy would collect events until it has a page of them.
  'x-accel-buffering': 'no',
}

export function buildLiveStreamRoute(engine: EngineApi, gate: Gate, limits: LiveLimits) {
  return async function addLiveStreamRoute(app: FastifyInstance): Promise<void> {
    const { watch } = engine
    const streams = watch === undefined ? undefined : new LiveStreams(engine, watch, gate, limits)
    app.addHook('preClose', (done) => {
      streams?.close()
      done()
    })
    const options = { config: { access: liveStreamOperation.access }, exposeHeadRoute: false }
    app.get('/v1/live', options, async function getLive(request, reply) {
      const query = readLiveQuery(request.query)
      if (streams === undefined)
        throw new CounterstepError(
          'SAGA_ROUTE_UNKNOWN',
          'nothing runs here between two calls, so ask again instead',
        )
      const stream = streams.open(query, request.raw)
      return reply.headers(HEADERS).send(stream)
    })
  }
}
