import type { FastifyInstance } from 'fastify'
import type { Topics } from '../topics/topics.ts'
import { SUCCESS } from '../wire/answer.ts'
import { BASE_PATH } from './base-path.ts'
import { queryOf } from './read-parameter.ts'
import { ADMIN, ADMIN_BY_GET } from './route-access.ts'
import { sendAnswer } from './send-answer.ts'

export function topicRoutes(app: FastifyInstance, topics: Topics): void {
  app.get(`${BASE_PATH}/subscribe`, ADMIN_BY_GET, async (request, reply) => {
    const remark = queryOf(request, 'remark')
    await topics.subscribe(queryOf(request, 'topic'), queryOf(request, 'url'), remark)
    return sendAnswer(reply, SUCCESS)
  })
  app.get(`${BASE_PATH}/unsubscribe`, ADMIN_BY_GET, async (request, reply) => {
    await topics.unsubscribe(queryOf(request, 'topic'), queryOf(request, 'url'))
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
