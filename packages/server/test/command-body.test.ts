import fastify from 'fastify'
import { expect, it } from 'vitest'
import { takeCommandBody } from '../src/http/command-body.ts'

it('S41: The body of a command is parsed once it has had its turn, which comes before the preHandler hooks', async () => {
  const app = fastify()
  takeCommandBody(app)
  const seen: unknown[] = []
  app.post('/command', {
    preValidation: async ({ body }) => {
      seen.push(Buffer.isBuffer(body))
    },
    handler: async ({ body }) => {
      seen.push(body)
      return {}
    },
  })
  const payload = JSON.stringify({ reason: 'why' })
  await app.inject({
    method: 'POST',
    url: '/command',
    headers: { 'content-type': 'application/json' },
    payload,
  })
  expect(seen).toEqual([true, { reason: 'why' }])
  await app.close()
})
