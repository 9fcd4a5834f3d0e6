import { describe, expect, it } from 'vitest'
import { buildCall, readBody, serveBytes, serveHttp } from './hostile-server.ts'
import { callOnce, testCaller } from './test-caller.ts'

describe('a result by the status alone', () => {
  const results: readonly (readonly [number, string])[] = [
    [200, 'success'],
    [409, 'failure'],
    [425, 'ongoing'],
    ...[
      201, 202, 204, 206, 301, 302, 304, 307, 308, 400, 401, 403, 404, 422, 429, 500, 502, 503, 504, 599,
    ].map((status) => [status, 'unknown'] as const),
  ]
  for (const [status, result] of results) {
    it(`The status ${status} is ${result}, whatever the body says`, async () => {
      const bodyless = status === 204 || status === 304
      const server = await serveHttp((_request, response) => {
        response.writeHead(status)
        response.end(bodyless ? undefined : 'FAILURE SUCCESS ONGOING')
      })
      expect(await callOnce(server.url)).toEqual({
        result,
        statusCode: status,
        ...(bodyless ? {} : { excerpt: 'FAILURE SUCCESS ONGOING' }),
      })
    })
  }

  it('An informational answer before the final one changes nothing', async () => {
    const server = await serveBytes((socket) => {
      socket.end(
        `HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok`,
      )
    })
    expect(await callOnce(server.url)).toEqual({ result: 'success', statusCode: 200, excerpt: 'ok' })
  })
})

describe('an answer whose words count', () => {
  const results = [
    [200, 'x', 'success'],
    [200, 'a FAILURE here', 'failure'],
    [500, 'FAILURE', 'failure'],
    [409, 'ONGOING FAILURE', 'ongoing'],
    [425, 'FAILURE', 'ongoing'],
    [409, '', 'failure'],
    [500, 'x', 'unknown'],
  ] as const
  for (const [status, body, result] of results) {
    it(`The status ${status} with "${body}" is ${result} where the words count`, async () => {
      const server = await serveHttp((_request, response) => response.writeHead(status).end(body))
      expect(await callOnce(server.url, { wordsCount: true })).toMatchObject({ result })
    })
  }

  it('A 200 that is too long to be read is unknown unless a word has come, and a 409 is a failure', async () => {
    for (const [status, start, answer] of [
      [200, 'x', { result: 'unknown', error: 'unread' }],
      [200, 'FAILURE', { result: 'failure' }],
      [409, 'x', { result: 'failure' }],
    ] as const) {
      const server = await serveHttp((_request, response) =>
        response.writeHead(status).end(start + 'x'.repeat(3 * 1024 * 1024)),
      )
      expect(await callOnce(server.url, { wordsCount: true })).toMatchObject(answer)
    }
  })
})

describe('the request that a branch receives', () => {
  it('A branch receives one POST with its body, its parameters and its headers', async () => {
    let seen: unknown
    const server = await serveHttp(async (request, response) => {
      const { method, url, headers } = request
      seen = { method, url, headers, body: await readBody(request) }
      response.end()
    })
    await callOnce(`${server.url}/debit`, {
      op: 'compensate',
      attempt: 3,
      epoch: 7,
      body: '{"grüße":1}',
      headers: { 'x-tenant': 'blue', authorization: 'Bearer abc' },
    })
    expect(seen).toEqual({
      method: 'POST',
      url: '/debit?gid=gid-1&trans_type=saga&branch_id=01&op=compensate',
      headers: {
        host: `127.0.0.1:${server.port}`,
        connection: 'keep-alive',
        'accept-encoding': 'identity',
        'user-agent': 'counterstep',
        'content-type': 'application/json',
        'content-length': '13',
        'counterstep-attempt': '3',
        'counterstep-epoch': '7',
        'counterstep-accepted-at': '1790000000000',
        'counterstep-gid': 'gid-1',
        'counterstep-branch-id': '01',
        'counterstep-op': 'compensate',
        'counterstep-kind': 'saga',
        'x-tenant': 'blue',
        authorization: 'Bearer abc',
      },
      body: '{"grüße":1}',
    })
  })

  it('A service is told of an action that nothing will undo, and of an undo that has something to undo', async () => {
    const seen: unknown[] = []
    const server = await serveHttp((request, response) => {
      seen.push(request.headers['counterstep-undo'])
      response.end()
    })
    await callOnce(server.url, { op: 'action', hasNoUndo: true })
    await callOnce(server.url, { op: 'action' })
    await callOnce(server.url, { op: 'compensate', mustUndo: true })
    expect(seen).toEqual(['none', undefined, 'due'])
  })

  it('A handler receives in a plan call, and in no other, how much time is left for it', async () => {
    const seen: (string | undefined)[] = []
    const server = await serveHttp((request, response) => {
      seen.push(request.headers['counterstep-budget-ms'] as string | undefined)
      response.end()
    })
    for (const op of ['plan', 'action'] as const) await callOnce(server.url, { op, timeoutMs: 7_000 })
    const [budget, ofAction] = seen
    expect(ofAction).toBeUndefined()
    expect(budget).toMatch(/^\d+$/)
    expect(Number(budget)).toBeGreaterThan(1_000)
    expect(Number(budget)).toBeLessThanOrEqual(7_000)
  })

  it('A branch receives the user agent that its headers name, once', async () => {
    let seen: string[] = []
    const server = await serveHttp((request, response) => {
      seen = request.rawHeaders
      response.end()
    })
    await callOnce(server.url, { headers: { 'user-agent': 'bank/1' } })
    expect(seen.filter((_, at) => seen[at - 1] === 'user-agent')).toEqual(['bank/1'])
  })

  it('A branch receives each character of a header as one byte, and a body in UTF-8', async () => {
    let seen: unknown
    const server = await serveHttp(async (request, response) => {
      seen = { name: request.headers['x-name'], body: await readBody(request) }
      response.end()
    })
    await callOnce(server.url, { headers: { 'x-name': 'Müller' }, body: '"Müller €"' })
    expect(seen).toEqual({ name: 'Müller', body: '"Müller €"' })
  })

  it('A branch receives a GET without a body where the call is one', async () => {
    let seen: unknown
    const server = await serveHttp(async (request, response) => {
      const { method, headers } = request
      seen = {
        method,
        length: headers['content-length'],
        type: headers['content-type'],
        body: await readBody(request),
      }
      response.end()
    })
    expect((await callOnce(server.url, { method: 'GET' })).result).toBe('success')
    expect(seen).toEqual({ method: 'GET', length: undefined, type: undefined, body: '' })
  })

  const urls: readonly (readonly [string, string])[] = [
    ['', '/ '],
    ['/', '/ '],
    ['/debit', '/debit '],
    ['/debit?', '/debit '],
    ['/debit?a=1', '/debit &a=1'],
    ['/debit?a=1&', '/debit &a=1&'],
    ['/debit?a=b%26c', '/debit &a=b%26c'],
    ['/debit?a=x?y', '/debit &a=x?y'],
    ['/debit#part', '/debit '],
    ['/debit?a=1#part?b=2', '/debit &a=1'],
    ['/d%C3%A9bit/ü', '/d%C3%A9bit/%C3%BC '],
  ]
  for (const [own, path] of urls) {
    it(`S39: The identity stands before the URL's own query: ${own || '(no path)'}`, async () => {
      let seen: string | undefined
      const server = await serveHttp((request, response) => {
        seen = request.url
        response.end()
      })
      await callOnce(server.url + own)
      const [before, after] = path.split(' ')
      expect(seen).toBe(`${before}?gid=gid-1&trans_type=saga&branch_id=01&op=action${after}`)
    })
  }

  it('A branch receives the gid as it was, whatever characters it has', async () => {
    const seen: (string | null)[] = []
    const server = await serveHttp((request, response) => {
      seen.push(new URL(request.url ?? '', 'http://x').searchParams.get('gid'))
      response.end()
    })
    const caller = testCaller()
    const gids = [
      'a/b',
      'a?b',
      'a#b',
      'a%b',
      'a&b=c',
      'a+b',
      '%2F',
      '../x',
      'a:b@c,d!e$f(g)*h~i|j^k`l{m}[n]<o>',
    ]
    for (const id of gids) expect((await caller.call(buildCall(server.url, { id }))).result).toBe('success')
    expect(seen).toEqual(gids)
  })

  it("A branch receives none of the stored headers that are Counterstep's or the connection's", async () => {
    let seen: string[] = []
    const server = await serveHttp((request, response) => {
      seen = request.rawHeaders
      response.end()
    })
    const headers = {
      host: 'elsewhere',
      'content-length': '1',
      'content-type': 'text/html',
      connection: 'close',
      'transfer-encoding': 'chunked',
      'Transfer-Encoding': 'chunked',
      'proxy-authorization': 'x',
      cookie: 'x',
      'counterstep-attempt': '99',
      'Accept-Encoding': 'gzip',
      'x-kept': 'yes',
    }
    const answer = await callOnce(server.url, { headers })
    expect(answer.result).toBe('success')
    expect(seen).toEqual([
      'host',
      `127.0.0.1:${server.port}`,
      'connection',
      'keep-alive',
      'accept-encoding',
      'identity',
      'user-agent',
      'counterstep',
      'content-type',
      'application/json',
      'counterstep-attempt',
      '1',
      'counterstep-epoch',
      '1',
      'counterstep-accepted-at',
      '1790000000000',
      'counterstep-gid',
      'gid-1',
      'counterstep-branch-id',
      '01',
      'counterstep-op',
      'action',
      'counterstep-kind',
      'saga',
      'x-kept',
      'yes',
      'content-length',
      '19',
    ])
  })

  it('S39: A branch receives nothing where a stored payload may pass for the identity of the call', async () => {
    const server = await serveHttp((_request, response) => response.end())
    for (const stored of [
      { body: 'op=compensate', contentType: 'application/x-www-form-urlencoded' },
      { body: '{}', contentType: 'application/json; charset=utf-7' },
    ]) {
      expect(await callOnce(server.url, stored)).toEqual({ result: 'unknown', error: 'bad-request' })
    }
    expect(server.countAccepted()).toBe(0)
  })

  it('A branch receives nothing where a header could not be written, or the URL is wrong', async () => {
    const server = await serveHttp((_request, response) => response.end())
    expect(await callOnce(server.url, { headers: { 'x-a': 'b\r\nx-c: d' } })).toEqual({
      result: 'unknown',
      error: 'bad-request',
    })
    for (const url of [
      '',
      'nowhere',
      'file:///etc/passwd',
      'ftp://127.0.0.1/',
      'http://a@127.0.0.1/',
      'http://',
    ]) {
      expect(await callOnce(url)).toEqual({ result: 'unknown', error: 'bad-url' })
    }
    expect(server.countAccepted()).toBe(0)
  })
})
