import { describe, expect, it } from 'vitest'
import { buildRealServer } from './real-server.ts'

describe('a pause over HTTP', () => {
  it.each([1, 1_795_705_538, -1, '2026-11-24', null])(
    'A pause until %s is refused, since it would be over before it began',
    async (until) => {
      await using server = await buildRealServer(() => ({ result: 'unknown', statusCode: 500 }))
      const { app } = server
      const post = (url: string, body: object) =>
        app.inject({
          method: 'POST',
          url,
          headers: { 'content-type': 'application/json' },
          payload: JSON.stringify(body),
        })
      await post('/v1/transactions', {
        gid: 'order-1',
        branches: [{ action: 'http://127.0.0.1:9001/debit' }],
      })
      const answer = await post('/v1/transactions/order-1/pause', { reason: 'repair', until })
      expect([answer.statusCode, answer.json()]).toMatchObject([422, { code: 'SAGA_INVALID' }])
      expect((await app.inject({ url: '/v1/transactions/order-1' })).json()).not.toHaveProperty('paused')
    },
  )
})
