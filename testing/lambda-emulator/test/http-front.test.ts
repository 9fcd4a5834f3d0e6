import { expect, it, onTestFinished } from 'vitest'
import { type FunctionSpec, type HttpFrontOptions, type RuntimeClient, startHttpFront } from '../src/index.ts'
import { describeLambda } from '../src/vitest/describe-lambda.ts'
import { openFunction } from './open-function.ts'

async function openFront(
  client: RuntimeClient,
  options: Omit<HttpFrontOptions, 'target'>,
  spec: Partial<FunctionSpec> = {},
): Promise<string> {
  const target = await openFunction(client, 'echo.handler', spec)
  const front = await startHttpFront({ target, ...options })
  onTestFinished(() => front.stop())
  return front.url
}

function buildUrl(url: string, answer: unknown): string {
  return `${url}/?answer=${encodeURIComponent(JSON.stringify(answer))}`
}

describeLambda('a function behind HTTP', (client) => {
  it('A function gets a request as an event, and its answer is the response', async () => {
    const url = await openFront(client, { endpoint: 'function-url' })
    const response = await fetch(`${url}/a%2Fb?c=1`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-mine': 'yes' },
      body: '{"amount":30}',
    })
    expect(response.status).toBe(200)
    expect(response.headers.get('x-event')).toBe('told')
    expect(await response.json()).toMatchObject({
      version: '2.0',
      rawPath: '/a%2Fb',
      rawQueryString: 'c=1',
      headers: { 'x-mine': 'yes' },
      requestContext: { http: { method: 'POST', sourceIp: expect.stringContaining('127.0.0.1') } },
      body: '{"amount":30}',
      isBase64Encoded: false,
    })
  })

  it('A body that is no text is taken and given as base64', async () => {
    const url = await openFront(client, { endpoint: 'http-api' })
    const bytes = new Uint8Array([0, 255, 128, 10])
    const headers = { 'content-type': 'application/octet-stream' }
    const sent = await fetch(url, { method: 'POST', headers, body: bytes })
    expect(await sent.json()).toMatchObject({ body: 'AP+ACg==', isBase64Encoded: true })
    const given = await fetch(buildUrl(url, { statusCode: 201, body: 'AP+ACg==', isBase64Encoded: true }))
    expect(given.status).toBe(201)
    expect(new Uint8Array(await given.arrayBuffer())).toEqual(bytes)
  })

  it('A function sets cookies and headers', async () => {
    const url = await openFront(client, { endpoint: 'http-api' })
    const answer = { statusCode: 204, headers: { 'X-Count': 3 }, cookies: ['a=1', 'b=2; Secure'] }
    const response = await fetch(buildUrl(url, answer))
    expect(response.status).toBe(204)
    expect(response.headers.get('x-count')).toBe('3')
    expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2; Secure'])
  })

  it("A function's answer without a status is the body as a whole", async () => {
    const url = await openFront(client, { endpoint: 'http-api' })
    const response = await fetch(buildUrl(url, { gid: 'a' }))
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(await response.json()).toEqual({ gid: 'a' })
  })

  for (const [endpoint, failure, throttle] of [
    ['function-url', 502, 429],
    ['http-api', 500, 503],
  ] as const) {
    it(`A function that throws, answers nonsense, is too slow or too busy has the statuses of ${endpoint}`, async () => {
      const url = await openFront(client, { endpoint }, { timeoutMs: 3000 })
      expect((await fetch(`${url}/throw`)).status).toBe(failure)
      expect((await fetch(buildUrl(url, { statusCode: 'fine' }))).status).toBe(failure)
      const slow = fetch(`${url}/wait`)
      // This request is answered until the slow one has taken the only environment.
      await expect.poll(async () => (await fetch(buildUrl(url, {}))).status).toBe(throttle)
      expect((await slow).status).toBe(failure)
    })
  }

  it('A function is not waited for longer than an HTTP API waits', async () => {
    const url = await openFront(client, { endpoint: 'http-api', integrationTimeoutMs: 500 })
    const response = await fetch(`${url}/wait`)
    expect(response.status).toBe(503)
    expect(await response.json()).toEqual({ message: 'Service Unavailable' })
  })

  it('A function never sees a request of more than 6 MB', async () => {
    const url = await openFront(client, { endpoint: 'function-url' })
    const headers = { 'content-type': 'text/plain' }
    const over = await fetch(url, { method: 'POST', headers, body: 'a'.repeat(6 * 1024 * 1024 + 1) })
    expect(over.status).toBe(413)
    const withEvent = await fetch(url, { method: 'POST', headers, body: 'a'.repeat(6 * 1024 * 1024) })
    expect(withEvent.status).toBe(413)
    const under = await fetch(url, { method: 'POST', headers, body: 'a'.repeat(3 * 1024 * 1024) })
    expect(under.status).toBe(200)
  })
})
