import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createKey, openKeyFile } from '@counterstep/access'
import type { Gid } from '@counterstep/protocol'
import { memoryStore } from '@counterstep/store-conformance'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { createApiHandler } from '../src/api-handler.ts'
import { KEYS_FRESH_MS, KEYS_USABLE_MS } from '../src/secret-keys.ts'
import { buildHttpEvent, createContext, type HttpAnswer } from './support/lambda-context.ts'
import { buildSaga, createTestParts } from './support/test-parts.ts'

const PLENTY_MS = 29_000
const ARN = 'arn:aws:secretsmanager:eu-central-1:123456789012:secret:counterstep/keys-AbCdEf'

async function openHandler(parts = createTestParts()) {
  const handle = await createApiHandler(parts)
  return async (...event: Parameters<typeof buildHttpEvent>) =>
    (await handle(buildHttpEvent(...event), createContext(PLENTY_MS))) as HttpAnswer
}

describe('the api behind an event', () => {
  it('The api accepts a saga, runs it to its end and answers the caller who waits', async () => {
    const parts = createTestParts()
    const request = await openHandler(parts)
    const answer = await request('POST', '/v1/transactions', {
      body: buildSaga('a'),
      headers: { prefer: 'wait=5' },
    })
    expect(answer.statusCode).toBe(200)
    expect(answer.headers['preference-applied']).toBe('wait=5')
    expect(JSON.parse(answer.body)).toMatchObject({ gid: 'a', status: 'succeeded', ack: 'durable' })
    expect(parts.calls).toHaveLength(1)
    expect(parts.wakeUps).toEqual([])
  })

  it('The api waits no longer than its own time allows', async () => {
    const request = await openHandler()
    const answer = await request('POST', '/v1/transactions', {
      body: buildSaga('a'),
      headers: { prefer: 'wait=60' },
    })
    expect(answer.headers['preference-applied']).toBe('wait=25')
  })

  it('The api asks for a wake-up of a saga that it gave back, and its waiting caller is told the end', async () => {
    let skewMs = 0
    const store = memoryStore({ now: () => Date.now() + skewMs })
    const parts = createTestParts({
      store,
      answer: async () => ({ result: 'ongoing', statusCode: 425, retryAfterMs: 5_000 }),
    })
    const request = await openHandler(parts)
    const wait = { prefer: 'wait=20' }
    const answered = request('POST', '/v1/transactions', { body: buildSaga('a'), headers: wait })
    await vi.waitUntil(() => parts.wakeUps.length > 0, { timeout: 2_000 })
    expect(parts.wakeUps).toEqual([
      { gid: 'a', dueInMs: expect.closeTo(5_000, -3), group: expect.any(String) },
    ])
    skewMs = 5_000
    const worker = createTestParts({ role: 'worker', store })
    await worker.engine.during(PLENTY_MS, (invocation) => invocation.runClaimed('a' as Gid))
    expect(JSON.parse((await answered).body)).toMatchObject({ gid: 'a', status: 'succeeded' })
    expect(parts.wakeUps).toHaveLength(1)
  })

  it('A caller who does not wait is answered with 202, and the saga has ended by then', async () => {
    const parts = createTestParts()
    const request = await openHandler(parts)
    const answer = await request('POST', '/v1/transactions', { body: buildSaga('a') })
    expect(answer.statusCode).toBe(202)
    expect(answer.headers.location).toBe('/v1/transactions/a')
    const seen = await request('GET', '/v1/transactions/a')
    expect(JSON.parse(seen.body)).toMatchObject({ status: 'succeeded' })
  })

  it('The api refuses with the same problems as a server, and has no documentation page', async () => {
    const request = await openHandler()
    const memory = await request('POST', '/v1/transactions', { body: buildSaga('a', { ack: 'memory' }) })
    expect(memory.statusCode).toBe(422)
    expect(JSON.parse(memory.body)).toMatchObject({ code: 'SAGA_ACK_INVALID' })
    const wrong = await request('POST', '/v1/transactions', { body: { branches: [] } })
    expect(wrong.headers['content-type']).toContain('application/problem+json')
    expect(JSON.parse(wrong.body)).toMatchObject({ code: 'SAGA_NO_BRANCHES' })
    expect((await request('GET', '/v1/transactions/a')).statusCode).toBe(404)
    expect((await request('GET', '/docs')).statusCode).toBe(404)
  })

  it('The api takes queries as they were sent, and a body in base64', async () => {
    const parts = createTestParts()
    const handle = await createApiHandler(parts)
    const event = { ...buildHttpEvent('POST', '/v1/transactions', { body: buildSaga('a') }) } as {
      body: string
    }
    const encoded = { ...event, body: Buffer.from(event.body).toString('base64'), isBase64Encoded: true }
    const accepted = (await handle(encoded, createContext(PLENTY_MS))) as HttpAnswer
    expect(accepted.statusCode).toBe(202)
    const query = 'status=succeeded&status=failed&limit=1'
    const list = (await handle(
      buildHttpEvent('GET', '/v1/transactions', { query }),
      createContext(PLENTY_MS),
    )) as HttpAnswer
    expect(list.statusCode).toBe(200)
    expect(JSON.parse(list.body).items).toHaveLength(1)
  })

  it('A gid with characters that a path escapes is found, whether the path comes decoded or as it was sent', async () => {
    const gid = '100%+a_b_'
    const parts = createTestParts()
    const handle = await createApiHandler(parts)
    await handle(
      buildHttpEvent('POST', '/v1/transactions', { body: buildSaga(gid) }),
      createContext(PLENTY_MS),
    )
    const sent = buildHttpEvent('GET', `/v1/transactions/${encodeURIComponent(gid)}`) as {
      requestContext: object
    }
    const decoded = buildHttpEvent('GET', `/v1/transactions/${gid}`) as { requestContext: object }
    const httpApi = {
      ...decoded,
      requestContext: { ...decoded.requestContext, domainName: 'api.shop.example' },
    }
    for (const event of [sent, httpApi]) {
      const answer = (await handle(event, createContext(PLENTY_MS))) as HttpAnswer
      expect([answer.statusCode, JSON.parse(answer.body).gid]).toEqual([200, gid])
    }
  })

  it.each([
    '/v1/../metrics',
    '/v1/%2e%2E/metrics',
    '/v1/x/..',
    '/./metrics',
    '/v1\\..\\metrics',
    '/v1/.\t./metrics',
    'http://127.0.0.1/metrics',
    '//127.0.0.1/metrics',
  ])('S16: The api has nothing at %j, which the adapter would take for another path', async (path) => {
    const request = await openHandler()
    const answer = await request('GET', path)
    expect([answer.statusCode, JSON.parse(answer.body)]).toMatchObject([404, { code: 'SAGA_ROUTE_UNKNOWN' }])
    expect(answer.headers['retry-after']).toBeUndefined()
    expect((await request('GET', '/metrics')).statusCode).toBe(200)
  })

  it.each(['FOO', 'get', 'PO ST', 'G\ud800', '\u0000'])(
    'S20: The api refuses the unknown method %j, and does not fail',
    async (method) => {
      const answer = await (await openHandler())(method, '/v1/transactions')
      expect([answer.statusCode, JSON.parse(answer.body)]).toMatchObject([
        405,
        { code: 'SAGA_METHOD_NOT_ALLOWED' },
      ])
    },
  )

  it.each(['/v1/transactions/\ud800', '/\udfff', '/v1/transactions/a\udc00b/stop'])(
    'S20: The api refuses the path %j, whose text is cut in two, and does not fail',
    async (path) => {
      const handle = await createApiHandler(createTestParts())
      const functionUrl = buildHttpEvent('GET', path) as { readonly requestContext: object }
      const domainName = 'abc.execute-api.eu-central-1.amazonaws.com'
      const httpApi = { ...functionUrl, requestContext: { ...functionUrl.requestContext, domainName } }
      for (const event of [functionUrl, httpApi]) {
        const answer = (await handle(event, createContext(PLENTY_MS))) as HttpAnswer
        expect([answer.statusCode, JSON.parse(answer.body)]).toMatchObject([
          404,
          { code: 'SAGA_ROUTE_UNKNOWN' },
        ])
      }
    },
  )

  it('The api gives back in time what does not end, and asks for a wake-up', async () => {
    const parts = createTestParts({
      answer: ({ timeoutMs }) =>
        new Promise((resolve) => setTimeout(resolve, timeoutMs, { result: 'unknown', error: 'timeout' })),
    })
    const handle = await createApiHandler(parts)
    const event = buildHttpEvent('POST', '/v1/transactions', { body: buildSaga('a') })
    const answer = (await handle(event, createContext(3_600))) as HttpAnswer
    expect(answer.statusCode).toBe(202)
    expect(parts.wakeUps.map(({ gid }) => gid)).toEqual(['a'])
  })
})

describe('the api with keys', () => {
  let folder: string
  let key: string
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'counterstep-keys-'))
    const given = {
      name: 'shop',
      scopes: ['submit', 'read'] as const,
      createdAt: Date.now(),
      expiresAt: null,
    }
    key = (await createKey(join(folder, 'keys.json'), given)).key
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it('The api with keys lets in a caller with a key of the secret, and no other', async () => {
    expect((await openKeyFile(join(folder, 'keys.json'))).keys.size).toBe(1)
    const text = readFileSync(join(folder, 'keys.json'), 'utf8')
    const variables = { COUNTERSTEP_KEYS_SECRET: ARN, COUNTERSTEP_INSECURE_NO_KEYS: '' }
    const request = await openHandler(createTestParts({ variables, secrets: { [ARN]: text } }))
    const body = buildSaga('a')
    expect((await request('POST', '/v1/transactions', { body })).statusCode).toBe(401)
    const authorization = `Bearer ${key}`
    expect((await request('POST', '/v1/transactions', { body, headers: { authorization } })).statusCode).toBe(
      202,
    )
    const retried = await request('POST', '/v1/transactions/a/retry', {
      body: {},
      headers: { authorization },
    })
    expect(retried.statusCode).toBe(403)
  })

  it('S40: A wake-up is of the group of its key, also where callers have one address', async () => {
    const keysFile = join(folder, 'two-keys.json')
    const given = { scopes: ['submit'], createdAt: Date.now(), expiresAt: null } as const
    const keys = [
      (await createKey(keysFile, { ...given, name: 'one' })).key,
      (await createKey(keysFile, { ...given, name: 'other' })).key,
    ]
    const parts = createTestParts({
      variables: { COUNTERSTEP_KEYS_SECRET: ARN, COUNTERSTEP_INSECURE_NO_KEYS: '' },
      secrets: { [ARN]: readFileSync(keysFile, 'utf8') },
    })
    const request = await openHandler(parts)
    for (const [position, own] of [...keys, ...keys].entries())
      await request('POST', '/v1/transactions', {
        body: buildSaga(`g${position}`, { delayMs: 60_000 }),
        headers: { authorization: `Bearer ${own}` },
      })
    const groups = parts.wakeUps.map(({ group }) => group)
    expect(groups).toHaveLength(4)
    expect(new Set(groups).size).toBe(2)
    expect(groups.slice(2)).toEqual(groups.slice(0, 2))
  })

  it('The api with keys does not start without them', async () => {
    const variables = { COUNTERSTEP_KEYS_SECRET: ARN, COUNTERSTEP_INSECURE_NO_KEYS: '' }
    await expect(createApiHandler(createTestParts({ variables }))).rejects.toThrow('no such secret')
    await expect(
      createApiHandler(createTestParts({ variables, secrets: { [ARN]: '{}' } })),
    ).rejects.toMatchObject({
      code: 'SAGA_KEYS_UNUSABLE',
    })
  })

  it('The api answers as a server does when its keys are too old and cannot be read again', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    onTestFinished(() => void vi.useRealTimers())
    const variables = { COUNTERSTEP_KEYS_SECRET: ARN, COUNTERSTEP_INSECURE_NO_KEYS: '' }
    const secrets = { [ARN]: readFileSync(join(folder, 'keys.json'), 'utf8') }
    const parts = createTestParts({ variables, secrets })
    const request = await openHandler(parts)
    delete parts.secrets[ARN]
    vi.setSystemTime(Date.now() + KEYS_USABLE_MS)
    const answer = await request('POST', '/v1/transactions', { body: buildSaga('a') })
    expect(answer.statusCode).toBe(503)
    expect(answer.headers).toMatchObject({
      'content-type': 'application/problem+json; charset=utf-8',
      'retry-after': '5',
    })
    expect(JSON.parse(answer.body)).toMatchObject({
      type: 'urn:counterstep:error:SAGA_KEYS_UNUSABLE',
      status: 503,
      code: 'SAGA_KEYS_UNUSABLE',
    })
  })

  it('S20: The api serves callers with the keys that it knows while its secret hangs, and refuses strangers at once', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    onTestFinished(() => void vi.useRealTimers())
    const variables = { COUNTERSTEP_KEYS_SECRET: ARN, COUNTERSTEP_INSECURE_NO_KEYS: '' }
    const text = readFileSync(join(folder, 'keys.json'), 'utf8')
    const answers = [Promise.resolve(text)]
    const parts = {
      ...createTestParts({ variables }),
      readSecret: () => answers.shift() ?? new Promise<string>(() => undefined),
    }
    const openedAt = Date.now()
    const request = await openHandler(parts)
    const authorization = `Bearer ${key}`
    const start = performance.now()
    for (const ageMs of [KEYS_FRESH_MS, KEYS_USABLE_MS - 10_000]) {
      vi.setSystemTime(openedAt + ageMs)
      expect((await request('GET', '/v1/transactions')).statusCode).toBe(401)
      expect((await request('GET', '/v1/transactions', { headers: { authorization } })).statusCode).toBe(200)
    }
    // Two reads were waited for, for half a second each.
    expect(performance.now() - start).toBeLessThan(4_000)
  })
})
