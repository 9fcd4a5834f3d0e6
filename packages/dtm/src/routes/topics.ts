import type { FastifyInstance } from 'fastify'
import type { Topics } from '../topics/topics.ts'
import { SUCCESS } from '../wire/answer.ts'
import { BASE_PATH } from './base-path.ts'
import { readParameter } from './read-parameter.ts'
import { ADMIN, ADMIN_BY_GET } from './route-access.ts'
import { sendAnswer } from './send-answer.ts'

export function addTopicRoutes(app: FastifyInstance, topics: Topics): void {
  app.get(`${BASE_PATH}/subscribe`, ADMIN_BY_GET, async (request, reply) => {
    const remark = readParameter(request, 'remark')
    await topics.subscribe(readParameter(request, 'topic'), readParameter(request, 'url'), remark)
    return sendAnswer(reply, SUCCESS)
  })
  app.get(`${BASE_PATH}/unsubscribe`, ADMIN_BY_GET, async (request, reply) => {
    await topics.unsubscribe(readParameter(request, 'topic'), readParameter(request, 'url'))
    return sendAnswer(reply, SUCCESS)
  })
  app.delete<{ Params: { readonly topic: string } }>(
    `${BASE_PATH}/topic/:topic`,
    ADMIN,
    async (request, reply) => {
      if (request.params.topic === '') return reply.callNotFound()
      await topics.remove(request.params.topic)
      return sendAnswer(reply, SUCCESS)
    },
  )
}
