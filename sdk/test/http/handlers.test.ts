import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
// @ts-expect-error: The alias has no types; where it is used it gets those of Express 5.
import express4 from 'express4'
import fastify from 'fastify'
import { Hono } from 'hono'
import { afterEach, describe, expect, it } from 'vitest'
import type { Barrier } from '../../src/barrier/barrier.ts'
import { branchHandler as expressHandler } from '../../src/express.ts'
import { branchHandler as fastifyHandler } from '../../src/fastify.ts'
import { fetchHandler } from '../../src/fetch.ts'
import { isBranchError } from '../../src/index.ts'
import { type Framework, handlerSuite, type ServedBranch } from './handler-suite.ts'

const QUERY = 'gid=g&trans_type=saga&branch_id=01&op=action'

/** It runs each handler, and remembers nothing. */
const RUNNING_BARRIER: Barrier<undefined> = {
  run: async (_call, effect) => {
    await effect(undefined)
    return { decision: 'run' }
  },
}

const open: Server[] = []
afterEach(async () => {
  for (const server of open.splice(0)) {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  }
})

async function listening(listener: RequestListener, logged: readonly unknown[]): Promise<ServedBranch> {
  const server = createServer(listener)
  open.push(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    logged,
    call: async (query, payload, contentType = 'application/json') => {
      const body = payload === undefined ? null : JSON.stringify(payload)
      const response = await fetch(`http://127.0.0.1:${port}/branch?${query}`, {
        method: body === null ? 'GET' : 'POST',
        ...(body === null ? {} : { body, headers: { 'content-type': contentType } }),
      })
      return { status: response.status, headers: response.headers, text: await response.text() }
    },
  }
}

const FASTIFY: Framework = {
  name: 'Fastify 5',
  serve: async (barrier, handler, options) => {
    const logged: unknown[] = []
    const app = fastify()
    app.addHook('onRequest', async (request) => {
      request.log.error = (details: { readonly err?: unknown }) => logged.push(details.err)
    })
    app.route({ method: ['GET', 'POST'], url: '/branch', handler: fastifyHandler(barrier, handler, options) })
    await app.ready()
    return listening((request, response) => app.routing(request, response), logged)
  },
}

function expressFramework(name: string, make: typeof express): Framework {
  return {
    name,
    serve: async (barrier, handler, options) => {
      const logged: unknown[] = []
      const app = make()
      app.use(make.json({ strict: false }))
      app.all('/branch', expressHandler(barrier, handler, options))
      app.use(((error, _request, response, _next) => {
        logged.push(isBranchError(error) && error.code === 'BRANCH_ERROR' ? error.cause : error)
        response.status(error.status).json({ code: error.code })
      }) satisfies express.ErrorRequestHandler)
      return listening(app, logged)
    },
  }
}

/** Makes a caller of a function from Request to Response, in this process. */
function makeCaller(fetch: (request: Request) => Response | Promise<Response>): ServedBranch['call'] {
  return async (query, payload) => {
    const body = payload === undefined ? null : JSON.stringify(payload)
    const init =
      body === null ? {} : { method: 'POST', body, headers: { 'content-type': 'application/json' } }
    const response = await fetch(new Request(`http://bank.test/branch?${query}`, init))
    return { status: response.status, headers: response.headers, text: await response.text() }
  }
}

/** Answers what a handler throws as a framework's own error handling would. */
function shownError(error: unknown, logged: unknown[]): Response {
  if (!isBranchError(error)) throw error
  logged.push(error.code === 'BRANCH_ERROR' ? error.cause : error)
  return Response.json({ code: error.code }, { status: error.status })
}

const HONO: Framework = {
  name: 'Hono',
  serve: async (barrier, handler, options) => {
    const logged: unknown[] = []
    const served = fetchHandler(barrier, handler, options)
    const app = new Hono()
    app.all('/branch', (context) => served(context.req.raw))
    app.onError((error) => shownError(error, logged))
    return { logged, call: makeCaller((request) => app.fetch(request)) }
  },
}

const PLAIN_REQUEST: Framework = {
  name: 'a plain Request',
  serve: async (barrier, handler, options) => {
    const logged: unknown[] = []
    const served = fetchHandler(barrier, handler, options)
    return {
      logged,
      call: makeCaller((request) => served(request).catch((error: unknown) => shownError(error, logged))),
    }
  },
}

handlerSuite(FASTIFY)
handlerSuite(HONO)
handlerSuite(PLAIN_REQUEST)
handlerSuite(expressFramework('Express 5', express))
handlerSuite(expressFramework('Express 4', express4 as typeof express))

for (const [name, make] of [
  ['Express 5', express],
  ['Express 4', express4 as typeof express],
] as const) {
  describe(`the default error handler of ${name}`, () => {
    it('The default error handler of Express answers an error that carries a 409 with 500', async () => {
      const app = make()
      // In this setting it prints nothing.
      app.set('env', 'test')
      app.use(make.json())
      const barrier = {
        run: () =>
          Promise.reject(Object.assign(new Error('SELECT secret'), { status: 409, statusCode: 409 })),
      }
      app.post(
        '/branch',
        expressHandler(barrier, () => undefined),
      )
      const { call } = await listening(app, [])
      const answer = await call('gid=g&trans_type=saga&branch_id=01&op=action', {})
      expect([answer.status, answer.text.includes('secret')]).toEqual([500, false])
    })

    it('A body that no parser has read is an error that says what to set, and the branch does nothing', async () => {
      const [app, logged, runs] = [make(), [] as unknown[], [] as unknown[]]
      const barrier = {
        run: async () => {
          runs.push('run')
          return { decision: 'run' as const }
        },
      }
      app.post(
        '/branch',
        expressHandler(barrier, () => undefined),
      )
      app.use(((error, _request, response, _next) => {
        logged.push(error)
        response.status(error.status).json({ code: error.code })
      }) satisfies express.ErrorRequestHandler)
      const { call } = await listening(app, logged)
      const answer = await call('gid=g&trans_type=saga&branch_id=01&op=action', { cents: 1 })
      expect([answer.status, JSON.parse(answer.text)]).toEqual([500, { code: 'BRANCH_BODY_UNPARSED' }])
      expect(logged).toMatchObject([
        { message: expect.stringContaining("express.json({ limit: '1mb', strict: false })") },
      ])
      expect(runs).toEqual([])
    })

    describe('a body behind a parser', () => {
      async function serveParsed(): Promise<ServedBranch & { readonly payloads: readonly unknown[] }> {
        const [app, logged, payloads] = [make(), [] as unknown[], [] as unknown[]]
        app.use(make.json({ strict: false }))
        app.post(
          '/branch',
          expressHandler(RUNNING_BARRIER, (_tx, { payload }) => void payloads.push(payload), {
            onError: (error) => logged.push(error),
          }),
        )
        return { ...(await listening(app, logged)), payloads }
      }

      it.each(['application/vnd.bank+json', 'text/plain', 'application/octet-stream'])(
        'A body of the type %s, which the parser leaves unread, is an error, and the branch does nothing',
        async (contentType) => {
          const { call, logged, payloads } = await serveParsed()
          const answer = await call(QUERY, { cents: 5 }, contentType)
          expect([answer.status, payloads]).toEqual([500, []])
          expect(logged).toMatchObject([{ code: 'BRANCH_BODY_UNPARSED' }])
        },
      )

      it('An empty object that the parser has read is the payload', async () => {
        const { call, payloads } = await serveParsed()
        expect([(await call(QUERY, {})).status, payloads]).toEqual([200, [{}]])
      })
    })
  })
}

describe('a body that a parser of Fastify throws away', () => {
  it('A body that a parser of Fastify throws away is an error, and the branch does nothing', async () => {
    const [app, logged, payloads] = [fastify(), [] as unknown[], [] as unknown[]]
    // Parsers of files do so: the route reads the stream later.
    app.addContentTypeParser('multipart/form-data', (_request, _payload, done) => done(null))
    const handler = fastifyHandler(RUNNING_BARRIER, (_tx, { payload }) => void payloads.push(payload), {
      onError: (error) => logged.push(error),
    })
    app.route({ method: ['GET', 'POST'], url: '/branch', handler })
    await app.ready()
    const { call } = await listening((request, response) => app.routing(request, response), logged)
    const answer = await call(QUERY, { cents: 5 }, 'multipart/form-data')
    expect([answer.status, payloads]).toEqual([500, []])
    expect(logged).toMatchObject([{ code: 'BRANCH_BODY_UNPARSED' }])
    expect([(await call(QUERY, { cents: 5 })).status, payloads]).toEqual([200, [{ cents: 5 }]])
    expect([(await call(QUERY)).status, payloads]).toEqual([200, [{ cents: 5 }, undefined]])
  })
})
