import express from 'express'
// @ts-expect-error: The alias has no types; where it is used it gets those of Express 5.
import express4 from 'express4'
import { describe, expect, it } from 'vitest'
import { signedCalls } from '../../src/express.ts'
import { isBranchError } from '../../src/index.ts'
import { signedCallCheck } from '../../src/signatures.ts'
import { listening, PUBLIC_KEY, QUERY, send, signedRequest } from './signed-request.ts'

const BASE = 'https://bank.example'
const OPTIONS = { keys: [PUBLIC_KEY], baseUrl: BASE }
const PATH = `/debit?${QUERY}`

for (const [name, make] of [
  ['Express 5', express],
  ['Express 4', express4 as typeof express],
] as const) {
  describe(`signedCalls of ${name} behind a parser`, () => {
    async function serve(parser: ReturnType<typeof express.json>) {
      const thrown: unknown[] = []
      const app = make()
      app.use(parser)
      app.use(signedCalls(OPTIONS))
      app.post('/debit', (request, response) => {
        response.json({ seen: Buffer.isBuffer(request.body) ? String(request.body) : request.body })
      })
      app.use(((error, _request, response, _next) => {
        thrown.push(error)
        response.status(error.status).json({ code: error.code })
      }) satisfies express.ErrorRequestHandler)
      return { url: await listening(app), thrown }
    }

    it('S19: The error says how to keep the bytes that the parser has taken, and no call gets through', async () => {
      const { url, thrown } = await serve(make.json())
      const answer = await send(url, signedRequest(BASE, PATH))
      expect([answer.status, answer.code]).toEqual([500, 'BRANCH_BODY_NOT_RAW'])
      const [error] = thrown
      expect(isBranchError(error) && error.message).toContain('request.rawBody = bytes')
    })

    it('S19: The bytes that the parser kept, or made the body, are checked', async () => {
      const verify: NonNullable<Parameters<typeof express.json>[0]>['verify'] = (
        request,
        _response,
        bytes,
      ) => {
        Object.assign(request, { rawBody: bytes })
      }
      for (const parser of [make.json({ verify }), make.raw({ type: '*/*' })]) {
        const { url } = await serve(parser)
        expect((await send(url, signedRequest(BASE, PATH))).text).toContain('cents')
        const changed = { ...signedRequest(BASE, PATH), body: '{"cents":900}' }
        expect((await send(url, changed)).status).toBe(401)
      }
    })

    it('S19: An error that onRefused throws goes to the framework, so that no process ends by it', async () => {
      const handed: unknown[] = []
      const guard = signedCalls({
        keys: [PUBLIC_KEY],
        baseUrl: BASE,
        onRefused: () => {
          throw new Error('the log is full')
        },
      })
      const app = make()
      app.use(guard)
      app.use(((error, _request, response, _next) => {
        handed.push(error)
        response.status(500).end()
      }) satisfies express.ErrorRequestHandler)
      const url = await listening(app)
      expect((await send(url, { ...signedRequest(BASE, PATH), headers: [] })).status).toBe(500)
      expect(handed).toMatchObject([{ code: 'BRANCH_ERROR', cause: { message: 'the log is full' } }])
    })

    it('S19: JSON is left parsed and everything else as bytes, and JSON that is none is answered with 400', async () => {
      const { url } = await serve(((_request, _response, next) => next()) as ReturnType<typeof express.json>)
      const seen = async (contentType: string, body: string) =>
        send(url, signedRequest(BASE, PATH, { contentType, body }))
      expect((await seen('application/json; charset=utf-8', '[1]')).text).toBe('{"seen":[1]}')
      expect((await seen('application/cloudevents+json', '[1]')).text).toBe('{"seen":[1]}')
      expect((await seen('text/plain', '[1]')).text).toBe('{"seen":"[1]"}')
      expect(await seen('application/json', '{')).toMatchObject({ status: 400, code: 'BRANCH_CALL_INVALID' })
    })
  })
}

describe('signedCallCheck', () => {
  const asFetched = ({ method, path, headers, body }: ReturnType<typeof signedRequest>) => ({
    method,
    url: `http://10.0.0.7:8080${path}`,
    headers: new Headers(headers.map(([name, value]) => [name, value] as [string, string])),
    body: Buffer.from(body),
  })

  it('S19: A signed call passes the check, and any other is answered with 401', () => {
    const check = signedCallCheck(OPTIONS)
    const call = asFetched(signedRequest(BASE, PATH))
    expect(check(call)).toBeUndefined()
    expect(check({ ...call, headers: Object.fromEntries(call.headers) })).toBeUndefined()
    expect(check({ ...call, body: Buffer.from('{}') })?.answer.statusCode).toBe(401)
    call.headers.append('signature', call.headers.get('signature') ?? '')
    expect(check(call)?.answer.statusCode).toBe(401)
    expect(check({ ...call, headers: {} })?.answer.body).toContain('BRANCH_UNSIGNED')
  })

  it('S18: A path that would make another host of the base URL is refused', () => {
    const check = signedCallCheck(OPTIONS)
    const call = asFetched(signedRequest(`${BASE}.elsewhere.example`, PATH))
    expect(check({ ...call, url: `.elsewhere.example${PATH}` })?.answer.statusCode).toBe(401)
  })

  it('S19: The origin of the URL counts where the host is trusted by name', () => {
    const check = signedCallCheck({ keys: [PUBLIC_KEY], trustHost: true })
    const call = asFetched(signedRequest(BASE, PATH))
    expect(check({ ...call, url: BASE + PATH })).toBeUndefined()
    expect(check(call)?.answer.statusCode).toBe(401)
  })
})
