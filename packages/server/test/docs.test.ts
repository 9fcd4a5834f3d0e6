import { bearerKey, createGate, guardRoutes } from '@counterstep/access'
import { type FastifyInstance, fastify } from 'fastify'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { errorHandler } from '../src/error-handler.ts'
import { createLogger } from '../src/logger.ts'
import { docsRoute } from '../src/routes/docs.ts'
import { type ScopeKeys, scopeKeys } from './scope-keys.ts'

let held: ScopeKeys
beforeAll(async () => {
  held = await scopeKeys()
})
afterAll(() => held[Symbol.asyncDispose]())

describe('the document of the page', () => {
  let app: FastifyInstance
  let made = 0

  beforeEach(() => {
    made = 0
    app = fastify()
    app.setErrorHandler(errorHandler(createLogger({ level: 'silent' })))
    guardRoutes(app, createGate({ keys: held.ring, credentials: bearerKey }))
    app.register(
      docsRoute(async () => {
        made += 1
        return { openapi: '3.1.0' }
      }),
    )
  })

  it.each(['/docs', '/docs/json', '/docs/yaml', '/docs/static/index.css'])(
    'is not made for who may not read it: %s',
    async (url) => {
      expect((await app.inject({ url })).statusCode).toBe(401)
      expect((await app.inject({ url, method: 'HEAD' })).statusCode).toBe(401)
      expect(made).toBe(0)
    },
  )

  it('is made for who may', async () => {
    const headers = { authorization: `Bearer ${held.keys.read}` }
    const answer = await app.inject({ url: '/docs/json', headers })
    expect(answer.json()).toEqual({ openapi: '3.1.0' })
    expect(made).toBe(1)
  })
})
