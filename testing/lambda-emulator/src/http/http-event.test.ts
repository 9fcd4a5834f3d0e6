import { expect, it } from 'vitest'
import { type ClientRequest, toHttpEvent } from './http-event.ts'

const NOW = Date.UTC(2026, 10, 21, 9, 37)

function request(more: Partial<ClientRequest> = {}): ClientRequest {
  const rawHeaders = ['Host', 'api.test', 'User-Agent', 'test/1']
  return { method: 'GET', target: '/', rawHeaders, body: Buffer.alloc(0), sourceIp: '127.0.0.1', ...more }
}

it('The event of a request is of payload format 2.0', () => {
  expect(toHttpEvent(request({ target: '/a/b?c=1&c=2&d=%20' }), 'function-url', NOW)).toEqual({
    version: '2.0',
    routeKey: '$default',
    rawPath: '/a/b',
    rawQueryString: 'c=1&c=2&d=%20',
    headers: { host: 'api.test', 'user-agent': 'test/1' },
    queryStringParameters: { c: '1,2', d: ' ' },
    requestContext: {
      accountId: '000000000000',
      apiId: 'emulated',
      domainName: 'api.test',
      domainPrefix: 'emulated',
      http: { method: 'GET', path: '/a/b', protocol: 'HTTP/1.1', sourceIp: '127.0.0.1', userAgent: 'test/1' },
      requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      routeKey: '$default',
      stage: '$default',
      time: 'Sat, 21 Nov 2026 09:37:00 GMT',
      timeEpoch: NOW,
    },
    isBase64Encoded: false,
  })
})

it('The event of a request joins repeated headers and keeps cookies apart', () => {
  const rawHeaders = ['X-Many', 'a', 'x-many', 'b', 'Cookie', 'c=1; d=2']
  const event = toHttpEvent(request({ rawHeaders }), 'function-url')
  expect(event.headers).toEqual({ 'x-many': 'a,b' })
  expect(event.cookies).toEqual(['c=1', 'd=2'])
})

for (const [endpoint, rawPath] of [
  ['function-url', '/gid%2F1%3Fa'],
  ['http-api', '/gid/1'],
] as const) {
  it(`The event of a request has the path that a ${endpoint} makes of an encoded one`, () => {
    expect(toHttpEvent(request({ target: '/gid%2F1%3Fa?b=1' }), endpoint)).toMatchObject({
      rawPath,
      rawQueryString: 'b=1',
    })
  })
}

for (const [type, encoding, isBase64Encoded] of [
  ['application/json', undefined, false],
  ['application/json; charset=utf-8', undefined, false],
  ['text/plain', undefined, false],
  ['application/json', 'gzip', true],
  ['application/octet-stream', undefined, true],
  ['application/x-www-form-urlencoded', undefined, true],
  [undefined, undefined, true],
] as const) {
  it(`A body of type ${type ?? '(none)'} and encoding ${encoding ?? '(none)'} is in the event as ${isBase64Encoded ? 'base64' : 'text'}`, () => {
    const rawHeaders = [
      ...(type === undefined ? [] : ['Content-Type', type]),
      ...(encoding === undefined ? [] : ['Content-Encoding', encoding]),
    ]
    const event = toHttpEvent(request({ rawHeaders, body: Buffer.from('{"ä":1}') }), 'function-url')
    expect(event.isBase64Encoded).toBe(isBase64Encoded)
    expect(event.body).toBe(isBase64Encoded ? 'eyLDpCI6MX0=' : '{"ä":1}')
  })
}
