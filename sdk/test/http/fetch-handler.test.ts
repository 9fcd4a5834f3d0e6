import { Hono } from 'hono'
import { expect, it } from 'vitest'
import { type FetchHandlerOptions, fetchHandler, queryPreparedHandler } from '../../src/fetch.ts'
import type { Branch, BranchError } from '../../src/index.ts'
import { signedCallCheck } from '../../src/signatures.ts'
import { OtherHeaders } from '../branch/other-headers.ts'
import { PUBLIC_KEY, QUERY, signedRequest } from './signed-request.ts'

const BASE = 'https://bank.example'
const MIB = 1024 * 1024
const JSON_BODY = { 'content-type': 'application/json' }

function fixture(options: FetchHandlerOptions<unknown> = {}) {
  const payloads: unknown[] = []
  const errors: unknown[] = []
  const barrier = {
    run: async (_call: unknown, effect: (tx: undefined) => unknown) => {
      await effect(undefined)
      return { decision: 'run' as const }
    },
  }
  const handler = fetchHandler(barrier, (_tx, branch: Branch) => void payloads.push(branch.payload), {
    onError: (error) => errors.push(error),
    ...options,
  })
  const ask = async (init: RequestInit & { readonly duplex?: 'half' }, target = `/debit?${QUERY}`) => {
    const response = await handler(new Request(`http://inside.test${target}`, { method: 'POST', ...init }))
    const text = await response.text()
    return { status: response.status, code: text === '' ? undefined : JSON.parse(text).code }
  }
  return { payloads, errors, handler, ask }
}

it('A fetchHandler takes a signed call, and refuses one that is unsigned, changed or signed for another service', async () => {
  const refused: BranchError[] = []
  const { payloads, ask } = fixture({
    signedCalls: { keys: [PUBLIC_KEY], baseUrl: BASE, onRefused: (error) => refused.push(error) },
  })
  const target = `/debit?${QUERY}`
  const send = (base: string, body?: string) => {
    const call = signedRequest(base, target)
    return ask(
      { headers: call.headers.map(([name, value]) => [name, value]), body: body ?? call.body },
      target,
    )
  }
  expect(await send(BASE)).toEqual({ status: 200, code: undefined })
  expect(await send(BASE, '{"cents":999}')).toEqual({ status: 401, code: 'BRANCH_SIGNATURE_INVALID' })
  expect(await send('https://other.example')).toEqual({ status: 401, code: 'BRANCH_SIGNATURE_INVALID' })
  expect(await ask({ headers: JSON_BODY, body: '{}' })).toEqual({ status: 401, code: 'BRANCH_UNSIGNED' })
  expect([payloads, refused.map(({ status }) => status)]).toEqual([[{ cents: 100 }], [401, 401, 401]])
})

it('A signed call whose headers are of another class is taken, and an unsigned one is refused', () => {
  const check = signedCallCheck({ keys: [PUBLIC_KEY], baseUrl: BASE })
  const target = `/debit?${QUERY}`
  const { headers, body } = signedRequest(BASE, target)
  const ask = (init: Readonly<Record<string, string>>) =>
    check({
      method: 'POST',
      url: `${BASE}${target}`,
      headers: new OtherHeaders(init) as unknown as Headers,
      body: Buffer.from(body),
    })
  expect(ask(Object.fromEntries(headers))).toBeUndefined()
  expect(ask(JSON_BODY)).toMatchObject({ error: { code: 'BRANCH_UNSIGNED' } })
})

it('A fetchHandler does not read the body of an unsigned call', async () => {
  const { handler } = fixture({ signedCalls: { keys: [PUBLIC_KEY], baseUrl: BASE } })
  const request = new Request(`http://inside.test/debit?${QUERY}`, { method: 'POST', body: '{}' })
  expect((await handler(request)).status).toBe(401)
  expect(request.bodyUsed).toBe(false)
})

it('A fetchHandler reads at most 1 MiB of a body, and ends one that goes on', async () => {
  const { payloads, ask } = fixture()
  let isEnded = false
  const endless = new ReadableStream({
    pull: (controller) => controller.enqueue(new Uint8Array(64 * 1024)),
    cancel: () => {
      isEnded = true
    },
  })
  expect(await ask({ headers: JSON_BODY, body: endless, duplex: 'half' })).toEqual({
    status: 400,
    code: 'BRANCH_CALL_INVALID',
  })
  await expect.poll(() => isEnded).toBe(true)
  const longest = 'x'.repeat(MIB - 2)
  expect((await ask({ headers: JSON_BODY, body: JSON.stringify(longest) })).status).toBe(200)
  expect(payloads).toEqual([longest])
})

it('A fetchHandler parses any JSON, refuses garbage, and leaves other bodies as their bytes', async () => {
  const { payloads, errors, ask } = fixture()
  const headers = { 'content-type': 'application/problem+json; charset=utf-8' }
  for (const body of ['"text"', 'null', '17', '[1]']) expect((await ask({ headers, body })).status).toBe(200)
  expect((await ask({})).status).toBe(200)
  expect((await ask({ headers: { 'content-type': 'text/plain' }, body: 'text' })).status).toBe(200)
  expect(payloads).toEqual(['text', null, 17, [1], undefined, Buffer.from('text')])
  expect(await ask({ headers, body: '{' })).toEqual({ status: 400, code: 'BRANCH_CALL_INVALID' })
  expect(errors).toHaveLength(1)
})

it('A fetchHandler reads the identity from the URL as it came, and refuses one that stands there twice in any spelling', async () => {
  const { payloads, ask } = fixture()
  for (const more of ['&gid=h', '&%67id=h', '&[gid]=h', '&op=compensate']) {
    const answer = await ask({ headers: JSON_BODY, body: '{}' }, `/debit?${QUERY}${more}`)
    expect(answer).toEqual({ status: 400, code: 'BRANCH_CALL_INVALID' })
  }
  expect(payloads).toEqual([])
})

it('A fetchHandler answers BRANCH_BODY_NOT_RAW where the body was read already, as by a middleware of Hono', async () => {
  const { errors, handler } = fixture()
  const app = new Hono()
  app.use(async (context, next) => {
    await context.req.raw.text()
    await next()
  })
  app.post('/debit', (context) => handler(context.req.raw))
  const response = await app.request(`/debit?${QUERY}`, { method: 'POST', headers: JSON_BODY, body: '{}' })
  expect([response.status, await response.json()]).toEqual([500, { code: 'BRANCH_BODY_NOT_RAW' }])
  expect(errors).toMatchObject([{ code: 'BRANCH_BODY_NOT_RAW' }])
})

it('A fetchHandler with wrong options is refused at construction', () => {
  expect(() => fixture({ ops: [] })).toThrow(TypeError)
  expect(() => fixture({ signedCalls: { keys: [], baseUrl: BASE } })).toThrow(TypeError)
})

it('A query-back is answered as committed or rolled back, and an unknown outcome is thrown', async () => {
  const query = 'gid=g&trans_type=msg&branch_id=00&op=msg'
  for (const [outcome, status] of [
    ['committed', 200],
    ['rolled-back', 409],
  ] as const) {
    const answer = queryPreparedHandler({ queryPrepared: async () => outcome })
    expect((await answer(new Request(`http://inside.test/q?${query}`))).status).toBe(status)
  }
  const broken = { queryPrepared: () => Promise.reject(new Error('no database')) }
  const request = new Request(`http://inside.test/q?${query}`)
  await expect(queryPreparedHandler(broken)(request)).rejects.toMatchObject({
    code: 'BRANCH_ERROR',
    status: 500,
  })
})

it.each<[string, object]>([
  ['undefined options', { signedCalls: undefined }],
  ['undefined options that it inherits', Object.create({ signedCalls: undefined })],
  ['undefined keys', { signedCalls: { keys: undefined, baseUrl: BASE } }],
  ['no keys', { signedCalls: { keys: [], baseUrl: BASE } }],
  ['an undefined key', { signedCalls: { keys: [undefined], baseUrl: BASE } }],
  ['null', { signedCalls: null }],
  ['false', { signedCalls: false }],
])('S19: Signed calls with %s are refused at the start, and check no less', (_title, options) => {
  const barrier = { run: async () => ({ decision: 'run' as const }), queryPrepared: async () => 'committed' }
  expect(() => fetchHandler(barrier as never, () => undefined, options)).toThrow(TypeError)
  expect(() => queryPreparedHandler(barrier as never, options)).toThrow(TypeError)
})
