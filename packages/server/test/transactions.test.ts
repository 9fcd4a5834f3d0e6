import { CounterstepError, InvalidRequestError } from '@counterstep/protocol'
import type { InjectOptions } from 'fastify'
import { describe, expect, it } from 'vitest'
import { buildApp } from '../src/index.ts'
import { buildSubmitView, buildView, createScriptedEngine } from './scripted-engine.ts'

const branch = { action: 'http://127.0.0.1:9001/debit' }
const asJson = { 'content-type': 'application/json' }

function buildSubmit(payload: string | Buffer, headers: Record<string, string> = asJson): InjectOptions {
  return { method: 'POST', url: '/v1/transactions', payload, headers }
}

describe('POST /v1/transactions', () => {
  it('A submit is answered with 202 and the place of a transaction that goes on', async () => {
    const engine = createScriptedEngine({ submit: async () => buildSubmitView('a/b c%') })
    const answer = await buildApp({ engine }).inject(buildSubmit(JSON.stringify({ branches: [branch] })))
    expect(answer.statusCode).toBe(202)
    expect(answer.headers.location).toBe('/v1/transactions/a%2Fb%20c%25')
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
    expect(answer.headers['preference-applied']).toBeUndefined()
    expect(answer.json()).toEqual(buildSubmitView('a/b c%'))
    const options = { trace: {}, caller: expect.any(String) }
    expect(engine.calls).toEqual([{ verb: 'submit', arguments: [{ branches: [branch] }, options] }])
  })

  for (const status of ['succeeded', 'failed', 'stopped'] as const) {
    it(`A submit is answered with 200 when its wait ends with ${status}`, async () => {
      const engine = createScriptedEngine({ submit: async () => buildSubmitView('a', { status }) })
      const answer = await buildApp({ engine }).inject(
        buildSubmit('{}', { ...asJson, prefer: 'foo, wait=2' }),
      )
      expect(answer.statusCode).toBe(200)
      expect(answer.headers['preference-applied']).toBe('wait=2')
      expect(answer.headers.location).toBeUndefined()
      expect(engine.calls[0]?.arguments[1]).toMatchObject({ waitMs: 2_000 })
    })
  }

  it('A submit is answered with 202 when its wait ends before the transaction', async () => {
    const answer = await buildApp({ engine: createScriptedEngine() }).inject(
      buildSubmit('{}', { ...asJson, prefer: 'wait=99' }),
    )
    expect(answer.statusCode).toBe(202)
    expect(answer.headers['preference-applied']).toBe('wait=60')
  })

  const contentTypes: readonly (readonly [string | undefined, number])[] = [
    ['application/json', 202],
    ['application/json; charset=utf-8', 202],
    ['Application/JSON;charset="UTF-8"', 202],
    ['application/json; charset=latin1', 415],
    ['application/json5', 415],
    ['application/problem+json', 415],
    ['text/plain', 415],
    ['text/plain;application/json', 415],
    ['application/ json', 415],
    ['application/json, text/plain', 415],
    ['application/x-www-form-urlencoded', 415],
    ['garbage', 415],
    [undefined, 415],
  ]
  for (const [contentType, status] of contentTypes) {
    it(`A submit of the content type ${contentType} is answered with ${status}`, async () => {
      const engine = createScriptedEngine()
      const headers = contentType === undefined ? {} : { 'content-type': contentType }
      const answer = await buildApp({ engine }).inject(buildSubmit(Buffer.from('{}'), headers))
      expect(answer.statusCode).toBe(status)
      expect(engine.calls).toHaveLength(status === 202 ? 1 : 0)
      if (status === 415) {
        expect(answer.json()).toMatchObject({ code: 'SAGA_UNSUPPORTED_MEDIA_TYPE', path: 'content-type' })
      }
    })
  }

  for (const [coding, status] of [
    ['gzip', 415],
    ['br, gzip', 415],
    ['x-unknown', 415],
    ['identity', 202],
    ['IDENTITY', 202],
    ['', 202],
  ] as const) {
    it(`A submit of the content coding "${coding}" is answered with ${status}, since nothing here unpacks a body`, async () => {
      const engine = createScriptedEngine()
      const headers = { 'content-type': 'application/json', 'content-encoding': coding }
      const answer = await buildApp({ engine }).inject(buildSubmit(Buffer.from('{}'), headers))
      expect(answer.statusCode).toBe(status)
      expect(engine.calls).toHaveLength(status === 202 ? 1 : 0)
      if (status === 415) {
        expect(answer.json()).toMatchObject({
          code: 'SAGA_UNSUPPORTED_MEDIA_TYPE',
          path: 'content-encoding',
        })
      }
    })
  }

  it('A body over 1 MiB is answered with 413, the place and the limit', async () => {
    const engine = createScriptedEngine({})
    const answer = await buildApp({ engine }).inject(buildSubmit(`"${'x'.repeat(2 ** 20)}"`))
    expect(answer.statusCode).toBe(413)
    expect(answer.json()).toMatchObject({ code: 'SAGA_BODY_TOO_LARGE', path: '' })
    expect(answer.json().detail).toContain('1048576')
    expect(engine.calls).toEqual([])
  })

  it('A submit without a body and a content type is answered with 415', async () => {
    const answer = await buildApp({ engine: createScriptedEngine() }).inject({
      method: 'POST',
      url: '/v1/transactions',
    })
    expect(answer.statusCode).toBe(415)
  })

  const badBodies: readonly (readonly [string, Buffer, number, string])[] = [
    ['malformed JSON', Buffer.from('{'), 400, 'SAGA_MALFORMED_JSON'],
    ['no body', Buffer.from(''), 400, 'SAGA_MALFORMED_JSON'],
    ['invalid UTF-8', Buffer.from([0x22, 0xff, 0x22]), 400, 'SAGA_MALFORMED_JSON'],
    ['a poisonous key', Buffer.from('{"__proto__":{}}'), 422, 'SAGA_INVALID'],
    ['a number that is not exact', Buffer.from('{"a":9007199254740993}'), 422, 'SAGA_NUMBER_NOT_EXACT'],
    ['a body over 1 MiB', Buffer.from(`"${'x'.repeat(1024 * 1024)}"`), 413, 'SAGA_BODY_TOO_LARGE'],
  ]
  for (const [title, body, status, code] of badBodies) {
    it(`A submit with ${title} is answered with ${status} ${code}, and does not reach the engine`, async () => {
      const engine = createScriptedEngine()
      const answer = await buildApp({ engine }).inject(buildSubmit(body))
      expect(answer.statusCode).toBe(status)
      expect(answer.headers['content-type']).toBe('application/problem+json; charset=utf-8')
      expect(answer.json()).toMatchObject({ status, code, type: `urn:counterstep:error:${code}` })
      expect(engine.calls).toEqual([])
    })
  }

  it('A body of exactly 1 MiB is accepted', async () => {
    const body = `"${'x'.repeat(1024 * 1024 - 2)}"`
    expect((await buildApp({ engine: createScriptedEngine() }).inject(buildSubmit(body))).statusCode).toBe(
      202,
    )
  })

  it('Every fault that the engine found is passed on', async () => {
    const faults = [
      { code: 'SAGA_URL_INVALID', path: '/branches/0/action', message: 'not http' },
      { code: 'SAGA_TIMEOUT_INVALID', path: '/timeoutMs', message: 'too long' },
    ] as const
    const submit = async () => {
      throw new InvalidRequestError(faults)
    }
    const answer = await buildApp({ engine: createScriptedEngine({ submit }) }).inject(buildSubmit('{}'))
    expect(answer.statusCode).toBe(422)
    expect(answer.json()).toMatchObject({ code: 'SAGA_URL_INVALID', path: '/branches/0/action', faults })
  })

  it('An unknown outcome is answered with 503, Retry-After and the gid', async () => {
    const submit = async () => {
      throw Object.assign(new CounterstepError('SAGA_OUTCOME_UNKNOWN', 'submit again'), { gid: 'g-1' })
    }
    const answer = await buildApp({ engine: createScriptedEngine({ submit }) }).inject(buildSubmit('{}'))
    expect(answer.statusCode).toBe(503)
    expect(answer.headers['retry-after']).toBe('1')
    expect(answer.json()).toMatchObject({ code: 'SAGA_OUTCOME_UNKNOWN', gid: 'g-1' })
  })
})

describe('a gid in a path', () => {
  for (const gid of [
    'order-1',
    'a/b',
    'a%2Fb',
    '100%',
    '%25',
    'a?b#c',
    'a:b',
    '*',
    '(x)',
    'a&b=c+d',
    '...',
    '~'.repeat(128),
  ]) {
    it(`The gid ${gid.slice(0, 12)} arrives as it was meant`, async () => {
      const engine = createScriptedEngine()
      const app = buildApp({ engine })
      const path = `/v1/transactions/${encodeURIComponent(gid)}`
      expect((await app.inject({ url: path })).json().gid).toBe(gid)
      expect((await app.inject({ method: 'POST', url: `${path}/abort` })).json().gid).toBe(gid)
    })
  }

  for (const raw of [
    'a%20b',
    'a%3Bb',
    'a%22',
    "a'b",
    'a%5Cb',
    '%00',
    '%C3%A4',
    '%zz',
    '%',
    'a'.repeat(129),
    'a'.repeat(5000),
  ]) {
    it(`The path with the gid ${raw.slice(0, 12)} is refused`, async () => {
      const engine = createScriptedEngine()
      const app = buildApp({ engine })
      for (const answer of [
        await app.inject({ url: `/v1/transactions/${raw}` }),
        await app.inject({ method: 'POST', url: `/v1/transactions/${raw}/stop` }),
      ]) {
        expect(answer.statusCode).toBe(400)
        expect(answer.json()).toMatchObject({ code: 'SAGA_GID_INVALID', status: 400 })
      }
      expect(engine.calls).toEqual([])
    })
  }

  it('An unknown gid is answered with 404', async () => {
    const answer = await buildApp({ engine: createScriptedEngine({ get: async () => undefined }) }).inject({
      url: '/v1/transactions/nobody',
    })
    expect(answer.statusCode).toBe(404)
    expect(answer.json()).toMatchObject({ code: 'SAGA_UNKNOWN_GID', gid: 'nobody' })
  })
})

describe('a command', () => {
  for (const verb of ['abort', 'retry', 'stop'] as const) {
    const url = `/v1/transactions/order-1/${verb}`
    it(`The command ${verb} is answered with 202, or with 200 and a final transaction`, async () => {
      const going = buildApp({ engine: createScriptedEngine() })
      expect((await going.inject({ method: 'POST', url })).statusCode).toBe(202)
      const final = async () => buildView('order-1', { status: 'stopped' })
      const ended = buildApp({ engine: createScriptedEngine({ [verb]: final }) })
      expect((await ended.inject({ method: 'POST', url })).statusCode).toBe(200)
    })

    it(`The command ${verb} is answered with 409 if the transaction is final`, async () => {
      const refuse = async () => {
        throw new CounterstepError('SAGA_ALREADY_FINAL', 'it is final')
      }
      const answer = await buildApp({ engine: createScriptedEngine({ [verb]: refuse }) }).inject({
        method: 'POST',
        url,
      })
      expect(answer.statusCode).toBe(409)
      expect(answer.json().code).toBe('SAGA_ALREADY_FINAL')
    })
  }

  const bodies: readonly (readonly [Record<string, string>, string, number])[] = [
    [{}, '', 202],
    [{ 'content-type': 'application/x-www-form-urlencoded' }, '', 202],
    [asJson, '', 202],
    [asJson, '{}', 202],
    [asJson, ' { } ', 202],
    [{ 'content-type': 'text/plain' }, '{}', 202],
    [asJson, '{"force":true}', 422],
    [asJson, '{"confirm":"no-call-took-effect"}', 422],
    [{ 'content-type': 'application/x-www-form-urlencoded' }, 'a=1', 415],
    [asJson, 'x'.repeat(33_000), 413],
  ]
  for (const [headers, payload, status] of bodies) {
    it(`A stop with ${payload.slice(0, 20) || 'no body'} of type ${headers['content-type']} is answered with ${status}`, async () => {
      const url = '/v1/transactions/order-1/stop'
      const answer = await buildApp({ engine: createScriptedEngine() }).inject({
        method: 'POST',
        url,
        headers,
        payload,
      })
      expect(answer.statusCode).toBe(status)
    })
  }
})

describe('an abort', () => {
  const url = '/v1/transactions/order-1/abort'
  const reason = (length: number) => JSON.stringify({ reason: 'x'.repeat(length) })
  const rows: readonly (readonly [Record<string, string>, string, number, string?])[] = [
    [{}, '', 202],
    [{ 'content-type': 'application/x-www-form-urlencoded' }, '', 202],
    [{ 'content-type': 'text/plain' }, ' {} ', 202],
    [asJson, '', 202],
    [asJson, '{}', 202],
    [asJson, reason(1024), 202],
    [asJson, `{"reason":"${'\\u00e4'.repeat(1024)}"}`, 202],
    [asJson, reason(1025), 422, 'SAGA_INVALID'],
    [asJson, '{"reason":5}', 422, 'SAGA_INVALID'],
    [asJson, '{"reason":null}', 422, 'SAGA_INVALID'],
    [asJson, '{"reason":"\\ud800"}', 422, 'SAGA_INVALID'],
    [asJson, '[]', 422, 'SAGA_INVALID'],
    [asJson, '{"why":"x"}', 422, 'SAGA_UNKNOWN_FIELD'],
    [asJson, '{', 400, 'SAGA_MALFORMED_JSON'],
    [asJson, reason(33_000), 413, 'SAGA_BODY_TOO_LARGE'],
    [
      { 'content-type': 'application/json; charset=latin1' },
      '{"reason":"x"}',
      415,
      'SAGA_UNSUPPORTED_MEDIA_TYPE',
    ],
    [{ 'content-type': 'text/plain' }, '{"reason":"x"}', 415, 'SAGA_UNSUPPORTED_MEDIA_TYPE'],
    [
      { 'content-type': 'application/json', 'content-encoding': 'gzip' },
      '{"reason":"x"}',
      415,
      'SAGA_UNSUPPORTED_MEDIA_TYPE',
    ],
    [{ 'content-type': 'application/x-www-form-urlencoded' }, 'a=1', 415, 'SAGA_UNSUPPORTED_MEDIA_TYPE'],
  ]
  for (const [headers, payload, status, code] of rows) {
    it(`An abort with ${payload.slice(0, 20) || 'no body'} (${payload.length}) of type ${headers['content-type']} is answered with ${status}`, async () => {
      const engine = createScriptedEngine()
      const answer = await buildApp({ engine }).inject({ method: 'POST', url, headers, payload })
      expect([answer.statusCode, answer.json().code]).toEqual([status, code])
      expect(engine.calls).toHaveLength(status === 202 ? 1 : 0)
    })
  }

  it('An abort passes on its reason and the time to wait', async () => {
    const engine = createScriptedEngine({ abort: async () => buildView('order-1', { status: 'failed' }) })
    const headers = { ...asJson, prefer: 'wait=3' }
    const answer = await buildApp({ engine }).inject({
      method: 'POST',
      url,
      headers,
      payload: '{"reason":"no"}',
    })
    expect([answer.statusCode, answer.headers['preference-applied']]).toEqual([200, 'wait=3'])
    expect(engine.calls).toMatchObject([
      { verb: 'abort', arguments: ['order-1', { reason: 'no', waitMs: 3_000, caller: '127.0.0.1' }] },
    ])
  })
})

describe('a prepared transaction', () => {
  const place = '/v1/transactions/a%2Fb'

  it('A prepared transaction is submitted with 202 and its place, or with 200 when the wait ends with its end', async () => {
    const engine = createScriptedEngine()
    const going = await buildApp({ engine }).inject({ method: 'POST', url: `${place}/submit` })
    expect([going.statusCode, going.headers.location]).toEqual([202, place])
    expect(going.headers['preference-applied']).toBeUndefined()
    expect(engine.calls).toEqual([{ verb: 'submitPrepared', arguments: ['a/b', { caller: '127.0.0.1' }] }])
    const ended = createScriptedEngine({
      submitPrepared: async () => buildView('a/b', { status: 'succeeded' }),
    })
    const headers = { prefer: 'wait=5' }
    const final = await buildApp({ engine: ended }).inject({
      method: 'POST',
      url: `${place}/submit`,
      headers,
    })
    expect([final.statusCode, final.headers['preference-applied']]).toEqual([200, 'wait=5'])
    expect(final.headers.location).toBeUndefined()
    expect(ended.calls[0]?.arguments[1]).toMatchObject({ waitMs: 5_000 })
  })

  it('The submit of a prepared transaction takes no body', async () => {
    const engine = createScriptedEngine()
    const options: InjectOptions = { method: 'POST', url: `${place}/submit`, headers: asJson }
    expect((await buildApp({ engine }).inject({ ...options, payload: '{}' })).statusCode).toBe(202)
    expect((await buildApp({ engine }).inject({ ...options, payload: '{"a":1}' })).statusCode).toBe(422)
    expect(engine.calls).toHaveLength(1)
  })

  it('A prepared transaction takes a branch, as JSON only', async () => {
    const engine = createScriptedEngine()
    const options: InjectOptions = { method: 'POST', url: `${place}/branches`, payload: '{"id":"x"}' }
    const answer = await buildApp({ engine }).inject({ ...options, headers: asJson })
    expect([answer.statusCode, answer.json().gid]).toEqual([200, 'a/b'])
    expect(engine.calls).toEqual([{ verb: 'registerBranch', arguments: ['a/b', { id: 'x' }, '127.0.0.1'] }])
    const text = await buildApp({ engine }).inject({ ...options, headers: { 'content-type': 'text/plain' } })
    const none = await buildApp({ engine }).inject({ method: 'POST', url: `${place}/branches` })
    expect([text.statusCode, none.statusCode]).toEqual([415, 415])
    expect(engine.calls).toHaveLength(1)
  })
})

describe('unknown paths', () => {
  it('An unknown path is answered with 404, with a body of any kind', async () => {
    const app = buildApp({ engine: createScriptedEngine() })
    for (const options of [
      { url: '/v2' },
      { method: 'POST', url: '/v2/x', payload: '<x>' },
    ] as InjectOptions[]) {
      const answer = await app.inject(options)
      expect(answer.statusCode).toBe(404)
      expect(answer.json().code).toBe('SAGA_ROUTE_UNKNOWN')
    }
  })

  const rows = [
    ['DELETE', '/v1/transactions/a', 'GET, HEAD'],
    ['PUT', '/v1/transactions?x=1', 'GET, HEAD, POST'],
    ['GET', '/v1/transactions/a/abort', 'POST'],
    ['POST', '/metrics', 'GET, HEAD'],
  ] as const
  for (const [method, url, allow] of rows) {
    it(`The request ${method} ${url} is answered with 405 and says what is allowed`, async () => {
      const answer = await buildApp({ engine: createScriptedEngine() }).inject({ method, url })
      expect(answer.statusCode).toBe(405)
      expect(answer.headers.allow).toBe(allow)
      expect(answer.json().code).toBe('SAGA_METHOD_NOT_ALLOWED')
    })
  }
})
