import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { createKey } from '@counterstep/access'
import { createClient } from '@counterstep/sdk'
import { openSqliteStore } from '@counterstep/store-sqlite'
import { fastifySwagger } from '@fastify/swagger'
import { type FastifyInstance, fastify } from 'fastify'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { KEYLESS, registerEmbedded } from './embedded-app.ts'
import { Participant } from './participant.ts'

let folder = ''
let path = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'counterstep-face-'))
  path = join(folder, 'counterstep.db')
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const json = { 'content-type': 'application/json' }

describe('the HTTP API of an app', () => {
  it('The HTTP API serves the SDK below its prefix', async () => {
    await using bank = await Participant.open()
    await using app = await registerEmbedded(path, { face: { ...KEYLESS, prefix: '/internal/sagas' } })
    const url = await app.listen({ port: 0, host: '127.0.0.1' })
    const client = createClient({ url: `${url}/internal/sagas` })
    const branches = [{ action: `${bank.url}/debit` }]
    expect(await client.submit({ gid: 'x', branches }, { waitMs: 10_000 })).toMatchObject({
      status: 'succeeded',
    })
    expect(await client.get('x')).toMatchObject({ status: 'succeeded' })
    expect((await client.page()).items).toHaveLength(1)
  })

  it('The HTTP API names its paths with the prefix', async () => {
    await using app = await registerEmbedded(path, { face: KEYLESS })
    const submitted = await app.inject({
      method: 'POST',
      url: '/counterstep/v1/transactions',
      headers: json,
      payload: { gid: 'a/b', delayMs: 3_600_000, branches: [{ action: 'http://127.0.0.1:9/x' }] },
    })
    expect(submitted.statusCode).toBe(202)
    expect(submitted.headers.location).toBe('/counterstep/v1/transactions/a%2Fb')
    expect((await app.inject({ url: String(submitted.headers.location) })).json()).toMatchObject({
      gid: 'a/b',
    })
    const root = await app.inject({ url: '/counterstep/' })
    expect(root.json().links).toEqual({
      openApi: '/counterstep/openapi.json',
      ready: '/counterstep/health/ready',
    })
    const document = (await app.inject({ url: root.json().links.openApi })).json()
    expect(document.servers).toEqual([{ url: '/counterstep' }])
    expect(Object.keys(document.paths)).not.toContain('/docs')
    for (const documented of Object.keys(document.paths)) {
      const url = `/counterstep${documented.replace('{gid}', 'a%2Fb')}`
      expect((await app.inject({ method: 'PUT', url })).statusCode).toBe(405)
    }
  })

  it('The HTTP API names what it refuses as the server does', async () => {
    await using app = await registerEmbedded(path, { face: KEYLESS })
    const post = (headers: Record<string, string>, payload: string) =>
      app.inject({ method: 'POST', url: '/counterstep/v1/transactions', headers, payload })
    const answers = [
      [await post(json, '{'), 400, 'SAGA_MALFORMED_JSON'],
      [await post(json, '{}'), 422, 'SAGA_NO_BRANCHES'],
      [await post({ 'content-type': 'text/plain' }, '{}'), 415, 'SAGA_UNSUPPORTED_MEDIA_TYPE'],
      [await post(json, JSON.stringify('x'.repeat(1024 * 1024))), 413, 'SAGA_BODY_TOO_LARGE'],
      [await post({ ...json, origin: 'https://evil.example' }, '{}'), 403, 'SAGA_ORIGIN_REFUSED'],
      [await post({ ...json, host: 'evil.example' }, '{}'), 421, 'SAGA_HOST_REFUSED'],
      [await app.inject({ url: '/counterstep/v1/transactions/none' }), 404, 'SAGA_UNKNOWN_GID'],
      [await app.inject({ url: '/counterstep/none' }), 404, 'SAGA_ROUTE_UNKNOWN'],
    ] as const
    for (const [answer, status, code] of answers) {
      expect(answer.headers['content-type']).toMatch('application/problem+json')
      expect([answer.statusCode, answer.json().code]).toEqual([status, code])
    }
  })

  it('The HTTP API takes as large a body in an app that takes small ones', async () => {
    await using app = await registerEmbedded(path, { face: KEYLESS }, fastify({ bodyLimit: 100 }))
    const answer = await app.inject({
      method: 'POST',
      url: '/counterstep/v1/transactions',
      headers: json,
      payload: {
        delayMs: 3_600_000,
        branches: [{ action: 'http://127.0.0.1:9/x', payload: 'x'.repeat(1_000) }],
      },
    })
    expect(answer.statusCode).toBe(202)
  })

  it('The HTTP API needs a key of the file, with its scope', async () => {
    const keysFile = join(folder, 'keys.json')
    const key = (
      await createKey(keysFile, { name: 'orders', scopes: ['read'], createdAt: Date.now(), expiresAt: null })
    ).key
    await using app = await registerEmbedded(path, { face: { keysFile } })
    const url = '/counterstep/v1/transactions'
    expect((await app.inject({ url })).json()).toMatchObject({ code: 'SAGA_UNAUTHENTICATED', status: 401 })
    const headers = { authorization: `Bearer ${key}` }
    expect((await app.inject({ url, headers })).statusCode).toBe(200)
    const submit = await app.inject({ method: 'POST', url, headers: { ...headers, ...json }, payload: '{}' })
    expect(submit.json()).toMatchObject({ code: 'SAGA_FORBIDDEN', status: 403 })
    const ready = '/counterstep/health/ready'
    expect((await app.inject({ url: ready })).json()).toEqual({ status: 'ready' })
    expect((await app.inject({ url: ready, headers })).json()).toMatchObject({ insecure: [] })
  })

  it('The HTTP API needs a key of another source, and bounds how often it may be used', async () => {
    const keysFile = join(folder, 'keys.json')
    const asked = { name: 'orders', scopes: ['read'], createdAt: Date.now(), expiresAt: null } as const
    const { key, stored } = await createKey(keysFile, asked)
    const keys = { find: (id: string) => (id === stored.id ? stored : undefined) }
    await using app = await registerEmbedded(path, { face: { keys, ratePerKey: 1 } })
    const url = '/counterstep/v1/transactions'
    expect((await app.inject({ url })).statusCode).toBe(401)
    const headers = { authorization: `Bearer ${key}` }
    const answers = await Promise.all(Array.from({ length: 20 }, () => app.inject({ url, headers })))
    expect(new Set(answers.map(({ statusCode }) => statusCode))).toEqual(new Set([200, 429]))
  })

  it('S42: A key may have as much stored in a day as its quota says', async () => {
    const keysFile = join(folder, 'quota.json')
    const asked = { name: 'orders', scopes: ['submit'], createdAt: Date.now(), expiresAt: null } as const
    const { key } = await createKey(keysFile, asked)
    await using app = await registerEmbedded(path, { face: { keysFile, quotaPerKey: { submitsMax: 1 } } })
    const submit = { method: 'POST', url: '/counterstep/v1/transactions', payload: {} } as const
    const answer = () => app.inject({ ...submit, headers: { authorization: `Bearer ${key}` } })
    expect((await answer()).statusCode).toBe(422)
    expect((await answer()).json()).toMatchObject({ code: 'SAGA_QUOTA_EXCEEDED', status: 429 })
  })

  it('The HTTP API finds as long a gid as the router of the app does', async () => {
    const url = `/counterstep/v1/transactions/${'g'.repeat(128)}`
    const short = fastify()
    const long = fastify({ routerOptions: { maxParamLength: 2_048 } })
    for (const [own, statusCode] of [
      [short, 414],
      [long, 404],
    ] as const) {
      await using app = await registerEmbedded(path, { face: KEYLESS }, own)
      expect((await app.inject({ url })).statusCode).toBe(statusCode)
    }
  })

  it('The HTTP API says which protections are switched off', async () => {
    await using app = await registerEmbedded(path, { face: KEYLESS, targets: 'insecure-any' })
    const ready = (await app.inject({ url: '/counterstep/health/ready' })).json()
    expect(ready.insecure).toEqual(['no-keys', 'allow-any-target'])
  })

  it('The HTTP API counts its answers, and nothing of the process', async () => {
    await using app = await registerEmbedded(path, { face: KEYLESS })
    await app.inject({ url: '/counterstep/health/live' })
    const metrics = (await app.inject({ url: '/counterstep/metrics' })).body
    expect(metrics).toContain('route="/counterstep/health/live",status="200"} 1')
    expect(metrics).toContain('counterstep_transactions_in_flight 0')
    expect(metrics).not.toContain('process_cpu')
  })

  it('The HTTP API is not there unless asked for', async () => {
    for (const options of [{}, { face: false as const }]) {
      await using app = await registerEmbedded(path, options)
      expect((await app.inject({ url: '/counterstep/health/live' })).statusCode).toBe(404)
    }
  })
})

/** Makes an app that has everything that a plugin could change by mistake. */
async function buildOwnApp(): Promise<FastifyInstance> {
  const app = fastify({ logger: false })
  await app.register(fastifySwagger, { openapi: { info: { title: 'own', version: '1' } } })
  app.setErrorHandler((error: Error & { statusCode?: number }, _request, reply) => {
    return reply.code(error.statusCode ?? 500).send({ own: error.message })
  })
  app.setNotFoundHandler((_request, reply) => reply.code(404).send({ own: 'not found' }))
  app.addContentTypeParser('text/csv', { parseAs: 'string' }, (_request, body, done) =>
    done(null, { csv: body }),
  )
  app.setReplySerializer((payload) => JSON.stringify({ serialized: payload }))
  app.post('/echo', async ({ body }) => ({ body }))
  app.get('/breaks', async () => {
    throw new Error('own trouble')
  })
  return app
}

/** Collects the answers that callers of the app's own routes get. */
async function collectAnswers(app: FastifyInstance): Promise<unknown> {
  const requests = [
    { method: 'POST', url: '/echo', headers: json, payload: '{"a":1}' },
    { method: 'POST', url: '/echo', headers: json, payload: '{' },
    { method: 'POST', url: '/echo', headers: json, payload: '{"__proto__":1}' },
    { method: 'POST', url: '/echo', headers: { 'content-type': 'text/csv' }, payload: 'a,b' },
    { method: 'POST', url: '/echo', headers: { 'content-type': 'text/plain' }, payload: 'a' },
    { method: 'POST', url: '/echo', headers: { 'content-type': 'text/x' }, payload: 'a' },
    { method: 'POST', url: '/echo', headers: { ...json, origin: 'https://other.example' }, payload: '{}' },
    { method: 'DELETE', url: '/echo' },
    { method: 'GET', url: '/breaks' },
    { method: 'GET', url: '/none' },
    { method: 'GET', url: '/v1/transactions' },
    { method: 'GET', url: '/counterstepping' },
  ] as const
  const answers: unknown[] = []
  for (const request of requests) {
    const { statusCode, headers, body } = await app.inject(request)
    const { date: _, ...rest } = headers
    answers.push({ statusCode, headers: rest, body })
  }
  return { answers, document: app.swagger(), routesOfOwn: app.hasRoute({ method: 'POST', url: '/echo' }) }
}

describe('an app with the plugin', () => {
  it('An app with the plugin answers on its own routes as it does without', async () => {
    await using plain = await buildOwnApp()
    await using app = await registerEmbedded(path, { face: KEYLESS }, await buildOwnApp())
    expect(await collectAnswers(app)).toEqual(await collectAnswers(plain))
  })

  it('The settings that an app has for itself leave the HTTP API as it is', async () => {
    await using app = await registerEmbedded(path, { face: KEYLESS }, await buildOwnApp())
    const unknown = await app.inject({ url: '/counterstep/none' })
    expect(unknown.json()).toMatchObject({ code: 'SAGA_ROUTE_UNKNOWN' })
    const listed = await app.inject({ url: '/counterstep/v1/transactions' })
    expect(listed.json()).toEqual({ items: [] })
    const csv = { 'content-type': 'text/csv' }
    const parsed = await app.inject({
      method: 'POST',
      url: '/counterstep/v1/transactions',
      headers: csv,
      payload: 'a',
    })
    expect(parsed.json()).toMatchObject({ code: 'SAGA_UNSUPPORTED_MEDIA_TYPE' })
  })

  it('An app may guard the HTTP API by hooks of its own', async () => {
    const own = fastify()
    own.addHook('onRequest', async ({ headers }, reply) => {
      if (headers['x-team'] !== 'orders') return reply.code(401).send({ own: 'who are you' })
    })
    await using app = await registerEmbedded(path, { face: KEYLESS }, own)
    const url = '/counterstep/v1/transactions'
    expect((await app.inject({ url })).json()).toEqual({ own: 'who are you' })
    expect((await app.inject({ url, headers: { 'x-team': 'orders' } })).statusCode).toBe(200)
  })

  it('The log of an app has the start, the store and the warning of missing keys', async () => {
    const { lines, stream } = createLogLines()
    await using app = await registerEmbedded(path, { face: KEYLESS }, fastify({ logger: { stream } }))
    await app.ready()
    const logged = lines.map((line) => JSON.parse(line))
    expect(logged).toContainEqual(
      expect.objectContaining({ msg: 'counterstep runs', store: 'sqlite', durabilityClass: 'A' }),
    )
    expect(logged).toContainEqual(
      expect.objectContaining({ level: 40, msg: expect.stringMatching(/insecureNoKeys/) }),
    )
  })

  it('The log of an app has what the store may lose', async () => {
    const { lines, stream } = createLogLines()
    const store = () => openSqliteStore({ path, synchronous: 'NORMAL' })
    await using app = await registerEmbedded(path, { store }, fastify({ logger: { stream } }))
    await app.ready()
    const logged = lines.map((line) => JSON.parse(line))
    expect(logged).toContainEqual(
      expect.objectContaining({ level: 40, msg: expect.stringMatching(/class B: a power loss/) }),
    )
  })
})

function createLogLines() {
  const lines: string[] = []
  const stream = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk))
      done()
    },
  })
  return { lines, stream }
}
