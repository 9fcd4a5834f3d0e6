import {
  ConnectionBounds,
  createGate,
  DEFAULT_CONNECTION_LIMITS,
  guardRoutes,
  readBearerKey,
} from '@counterstep/access'
import { type FastifyInstance, fastify } from 'fastify'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { buildApp } from '../src/build-app.ts'
import { buildErrorHandler } from '../src/error-handler.ts'
import { createLogger } from '../src/logger.ts'
import { buildDocsRoute } from '../src/routes/docs.ts'
import { createHeardLog } from './heard-log.ts'
import { openScopeKeys, type ScopeKeys } from './scope-keys.ts'
import { createScriptedEngine } from './scripted-engine.ts'

let held: ScopeKeys
beforeAll(async () => {
  held = await openScopeKeys()
})
afterAll(() => held[Symbol.asyncDispose]())

const BOUNDS = new ConnectionBounds(DEFAULT_CONNECTION_LIMITS)

describe('the document of the page', () => {
  let app: FastifyInstance
  let made = 0

  beforeEach(() => {
    made = 0
    app = fastify()
    app.setErrorHandler(buildErrorHandler(createLogger({ level: 'silent' })))
    guardRoutes(app, createGate({ keys: held.ring, credentials: readBearerKey }), BOUNDS)
    app.register(
      buildDocsRoute(
        async () => {
          made += 1
          return { openapi: '3.1.0' }
        },
        createScriptedEngine(),
        BOUNDS,
      ),
    )
  })

  it.each(['/docs', '/docs/json', '/docs/yaml', '/docs/static/index.css'])(
    'The OpenAPI document of the page is not made for a caller who may not read it: %s',
    async (url) => {
      expect((await app.inject({ url })).statusCode).toBe(401)
      expect((await app.inject({ url, method: 'HEAD' })).statusCode).toBe(401)
      expect(made).toBe(0)
    },
  )

  it.each(['/docs/yaml', '/docs/%79aml', '/docs/ya%6Dl', '/docs/yaml?a'])(
    'S42: The page never writes its document as YAML, however the path is written: %s',
    async (url) => {
      const headers = { authorization: `Bearer ${held.keys.read}` }
      for (const method of ['GET', 'HEAD'] as const)
        expect((await app.inject({ url, method, headers })).statusCode).toBe(404)
    },
  )

  it('The OpenAPI document of the page is made for a caller who may read it', async () => {
    const headers = { authorization: `Bearer ${held.keys.read}` }
    const answer = await app.inject({ url: '/docs/json', headers })
    expect(answer.json()).toEqual({ openapi: '3.1.0' })
    expect(made).toBe(1)
  })

  it('The OpenAPI document of the page is made again after it could not be made', async () => {
    const failing = fastify()
    failing.setErrorHandler(buildErrorHandler(createLogger({ level: 'silent' })))
    guardRoutes(
      failing,
      createGate({ credentials: readBearerKey }),
      new ConnectionBounds(DEFAULT_CONNECTION_LIMITS),
    )
    let tries = 0
    failing.register(
      buildDocsRoute(
        async () => {
          tries += 1
          if (tries === 1) throw new Error('the first time')
          return { openapi: '3.1.0' }
        },
        createScriptedEngine(),
        BOUNDS,
      ),
    )
    expect((await failing.inject({ url: '/docs' })).statusCode).toBe(500)
    expect((await failing.inject({ url: '/docs' })).statusCode).toBe(200)
    await failing.close()
  })
})

describe('the page', () => {
  const app = buildApp({ engine: createScriptedEngine() })
  afterAll(() => app.close())

  it.each(['/docs', '/docs/'])('The documentation page is at %s', async (url) => {
    const answer = await app.inject({ url })
    expect(answer.statusCode).toBe(200)
    expect(answer.headers['content-type']).toMatch(/^text\/html/)
  })

  it('A HEAD for a part of the documentation page is answered without its content', async () => {
    const url = '/docs/static/swagger-ui.css'
    const [got, head] = [await app.inject({ url }), await app.inject({ url, method: 'HEAD' })]
    expect(head.statusCode).toBe(200)
    expect(head.body).toBe('')
    expect(head.headers['content-length']).toBe(String(got.rawPayload.length))
  })

  it('A part of the documentation page is not sent again to a caller who has it', async () => {
    const url = '/docs/static/swagger-ui.css'
    const { etag } = (await app.inject({ url })).headers
    const again = await app.inject({ url, headers: { 'if-none-match': String(etag) } })
    expect(again.statusCode).toBe(304)
    expect(again.headers).not.toHaveProperty('content-length')
  })

  it.each(['/docs/nothing', '/docs/static/nothing'])(
    'The documentation page has nothing at %s',
    async (url) => {
      const answer = await app.inject({ url })
      expect(answer.statusCode).toBe(404)
      expect(answer.json()).toMatchObject({ code: 'SAGA_ROUTE_UNKNOWN' })
    },
  )

  it.each([
    ['/docs/static/swagger-ui.css', { range: 'bytes=9999999-' }, 416],
    ['/docs/static/swagger-ui.css', { 'if-match': '"other"' }, 412],
  ])('The documentation page refuses as the other routes do: %s %j', async (url, headers, status) => {
    const answer = await app.inject({ url, headers })
    expect(answer.statusCode).toBe(status)
    expect(answer.headers['content-type']).toMatch(/^application\/problem\+json/)
    expect(answer.json()).toMatchObject({ code: 'SAGA_INVALID', status })
  })

  it('A fault in the documentation page is logged under the number of the request', async () => {
    const { lines, logger } = createHeardLog()
    const whole = fastify()
    whole.setErrorHandler(buildErrorHandler(logger))
    const broken = {
      toJSON() {
        throw new Error('the document broke')
      },
    }
    whole.register(buildDocsRoute(async () => broken as never, createScriptedEngine(), BOUNDS))
    const answer = await whole.inject({ url: '/docs/json' })
    expect(answer.statusCode).toBe(500)
    expect(answer.json()).toMatchObject({ code: 'SAGA_INTERNAL' })
    const requestId = answer.headers['counterstep-request-id']
    expect(requestId).toMatch(/./)
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({ msg: 'request failed', requestId }),
    ])
    await whole.close()
  })

  it('The documentation page ends its connections while the node stops', async () => {
    const engine = createScriptedEngine()
    const stopping = buildApp({ engine: { ...engine, isStopping: true } })
    expect((await stopping.inject({ url: '/docs' })).headers.connection).toBe('close')
    await stopping.close()
  })

  it('The documentation page is logged like other routes', async () => {
    const { lines, logger } = createHeardLog()
    const logging = buildApp({ engine: createScriptedEngine(), logger, logRequests: true })
    await logging.inject({ url: '/docs/static/swagger-ui.css' })
    await logging.close()
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({ msg: 'answered', route: '/docs/*', status: 200 }),
    ])
  })

  it('The app closes while the documentation page is being made', async () => {
    const closing = buildApp({ engine: createScriptedEngine() })
    await closing.ready()
    const asked = closing.inject({ url: '/docs' })
    await closing.close()
    const { statusCode, body } = await asked
    if (statusCode !== 200) expect(JSON.parse(body)).toMatchObject({ code: 'SAGA_STOPPING', status: 503 })
  })

  it('The documentation page may not be changed', async () => {
    const answer = await app.inject({ url: '/docs/static/swagger-ui.css', method: 'POST' })
    expect(answer.statusCode).toBe(405)
    expect(answer.headers.allow).toBe('GET, HEAD')
  })

  it.each(['/sagas', '/sagas/'])(
    'The documentation page is under the prefix of its HTTP API: %s',
    async (prefix) => {
      const whole = fastify()
      const page = buildDocsRoute(async () => ({ openapi: '3.1.0' }), createScriptedEngine(), BOUNDS)
      whole.register(async (scope) => void scope.register(page), { prefix })
      const { statusCode, body } = await whole.inject({ url: '/sagas/docs' })
      expect(statusCode).toBe(200)
      const [, style = ''] = body.match(/href="([^"]+\.css)"/) ?? []
      expect(style).toMatch(/^\/sagas\/docs\/static\//)
      expect((await whole.inject({ url: style })).statusCode).toBe(200)
      await whole.close()
    },
  )
})
