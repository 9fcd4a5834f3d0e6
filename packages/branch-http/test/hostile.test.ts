import { once } from 'node:events'
import { createServer } from 'node:net'
import { gzipSync } from 'node:zlib'
import { targetPolicy } from '@counterstep/branch-http/targets'
import type { BranchAnswer } from '@counterstep/core'
import { afterEach, describe, expect, it } from 'vitest'
import { fixedLookup } from './fixed-lookup.ts'
import { buildCall, serveBytes, serveHttp } from './hostile-server.ts'
import { callOnce, testCaller } from './test-caller.ts'

const DEADLINE_MS = 200
// A call that takes longer hangs and is not only slow: a shared machine may hold this process up for a while.
const SLACK_MS = 5_000

async function callUntilDeadline(call: () => Promise<BranchAnswer>): Promise<BranchAnswer> {
  const startedAt = performance.now()
  const value = await call()
  const tookMs = performance.now() - startedAt
  expect(tookMs).toBeGreaterThanOrEqual(DEADLINE_MS)
  expect(tookMs).toBeLessThan(DEADLINE_MS + SLACK_MS)
  return value
}

describe('the total deadline', () => {
  it('The deadline ends a call whose answer never begins, and its connection', async () => {
    const server = await serveBytes((socket) => socket.resume())
    const answer = await callUntilDeadline(() => callOnce(server.url, { timeoutMs: DEADLINE_MS }))
    expect(answer).toEqual({ result: 'unknown', error: 'timeout' })
    await server.untilClosed(1)
  })

  it('The deadline ends a body that drips, however often a byte comes', async () => {
    const server = await serveBytes((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n')
      const drip = setInterval(() => socket.write('x'), 10)
      socket.on('close', () => clearInterval(drip))
    })
    const answer = await callUntilDeadline(() => callOnce(server.url, { timeoutMs: DEADLINE_MS }))
    expect(answer).toMatchObject({ result: 'unknown', error: 'timeout', statusCode: 200 })
    await server.untilClosed(1)
  })

  it('The deadline ends headers that drip', async () => {
    const server = await serveBytes((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nx-a: ')
      const drip = setInterval(() => socket.write('x'), 10)
      socket.on('close', () => clearInterval(drip))
    })
    const answer = await callUntilDeadline(() => callOnce(server.url, { timeoutMs: DEADLINE_MS }))
    expect(answer).toEqual({ result: 'unknown', error: 'timeout' })
  })

  it('A 409 whose body never ends counts as unknown, because it did not come whole', async () => {
    const server = await serveBytes((socket) => {
      socket.write('HTTP/1.1 409 Conflict\r\ncontent-length: 9\r\n\r\nno ')
    })
    const answer = await callUntilDeadline(() => callOnce(server.url, { timeoutMs: DEADLINE_MS }))
    expect(answer).toEqual({ result: 'unknown', error: 'timeout', statusCode: 409, excerpt: 'no ' })
  })

  it('The deadline ends a call that waits for a connection, without sending it', async () => {
    let requests = 0
    const server = await serveHttp(() => requests++)
    const caller = testCaller({ connectionsPerOriginMax: 1 })
    const first = caller.call(buildCall(server.url))
    const waiting = await callUntilDeadline(() =>
      caller.call(buildCall(server.url, { timeoutMs: DEADLINE_MS })),
    )
    expect(waiting).toEqual({ result: 'unknown', error: 'busy' })
    await caller.close()
    expect(await first).toEqual({ result: 'unknown', error: 'closed' })
    expect(requests).toBe(1)
  })

  it('The deadline ends a TLS handshake that is never answered', async () => {
    const server = await serveBytes((socket) => socket.resume())
    const answer = await callUntilDeadline(() =>
      callOnce(`https://127.0.0.1:${server.port}/`, { timeoutMs: DEADLINE_MS }),
    )
    expect(answer).toEqual({ result: 'unknown', error: 'connect-timeout' })
  })

  it('The time to connect may be shorter than the deadline', async () => {
    const server = await serveBytes((socket) => socket.resume())
    const caller = testCaller({ connectTimeoutMs: 50 })
    const answer = await caller.call(buildCall(`https://127.0.0.1:${server.port}/`, { timeoutMs: 20_000 }))
    expect(answer).toEqual({ result: 'unknown', error: 'connect-timeout' })
  })
})

describe('a hostile branch', () => {
  const answers: readonly (readonly [string, string, BranchAnswer])[] = [
    ['closes before the status', '', { result: 'unknown', error: 'reset' }],
    ['stops within the headers', 'HTTP/1.1 200 OK\r\nx-a: 1', { result: 'unknown', error: 'reset' }],
    ['speaks another protocol', 'SSH-2.0-OpenSSH_9.2\r\n', { result: 'unknown', error: 'bad-response' }],
    [
      'stops within a 200’s body',
      'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc',
      { result: 'unknown', error: 'reset', statusCode: 200, excerpt: 'abc' },
    ],
    [
      'stops within a 409’s chunks',
      'HTTP/1.1 409 Conflict\r\ntransfer-encoding: chunked\r\n\r\n5\r\nab',
      { result: 'unknown', error: 'reset', statusCode: 409, excerpt: 'ab' },
    ],
    [
      'breaks the chunk format',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n',
      { result: 'unknown', error: 'bad-response', statusCode: 200 },
    ],
    [
      'gives two lengths',
      'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\na',
      { result: 'unknown', error: 'bad-response' },
    ],
    [
      'packs its answer by a transfer coding, in which a word would not be seen',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n',
      { result: 'unknown', error: 'bad-response' },
    ],
    [
      'packs it so without chunks',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: gzip\r\n\r\nok',
      { result: 'unknown', error: 'bad-response' },
    ],
    [
      'gives chunks and a length',
      'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n',
      { result: 'unknown', error: 'bad-response' },
    ],
    [
      'folds a field',
      'HTTP/1.1 200 OK\r\nx: y\r\n z\r\ncontent-length: 2\r\n\r\nok',
      { result: 'unknown', error: 'bad-response' },
    ],
    [
      'ends a field without a return',
      'HTTP/1.1 200 OK\r\nx: y\ncontent-length: 2\r\n\r\nok',
      { result: 'unknown', error: 'bad-response' },
    ],
    [
      'ends the size of a chunk without a return',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\nok\r\n0\r\n\r\n',
      { result: 'unknown', error: 'bad-response', statusCode: 200 },
    ],
    [
      'stops within a body that was to end with its connection',
      'HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 5\r\n\r\nok',
      { result: 'unknown', error: 'bad-response', statusCode: 200, excerpt: 'ok' },
    ],
    [
      'switches to another protocol',
      'HTTP/1.1 101 S\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n',
      { result: 'unknown', error: 'reset' },
    ],
    [
      'sends 64 KiB of headers',
      `HTTP/1.1 200 OK\r\nx-a: ${'x'.repeat(64 * 1024)}\r\n\r\n`,
      { result: 'unknown', error: 'too-large' },
    ],
    [
      'floods with informational answers',
      'HTTP/1.1 102 Processing\r\n\r\n'.repeat(1000),
      { result: 'unknown', error: 'bad-response' },
    ],
    [
      'sends thousands of headers',
      `HTTP/1.1 200 OK\r\n${'a:\r\n'.repeat(600)}content-length: 2\r\n\r\nok`,
      { result: 'unknown', error: 'too-large' },
    ],
    [
      'sends thousands of headers in an informational answer',
      `HTTP/1.1 103 Early Hints\r\n${'a:\r\n'.repeat(600)}\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok`,
      { result: 'unknown', error: 'too-large' },
    ],
    [
      'sends thousands of trailers',
      `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n${'a:\r\n'.repeat(600)}\r\n`,
      { result: 'unknown', error: 'too-large', statusCode: 200, excerpt: 'ok' },
    ],
    [
      'sends more than 200 headers',
      `HTTP/1.1 200 OK\r\n${'a:\r\n'.repeat(200)}content-length: 2\r\n\r\nok`,
      { result: 'unknown', error: 'bad-response' },
    ],
    [
      'sends 200 headers',
      `HTTP/1.1 200 OK\r\n${'abc: d\r\n'.repeat(199)}content-length: 2\r\n\r\nok`,
      { result: 'success', statusCode: 200, excerpt: 'ok' },
    ],
    [
      'extends a chunk without an end',
      `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2;${'x'.repeat(80_000)}`,
      { result: 'unknown', error: 'bad-response', statusCode: 200 },
    ],
    [
      'extends a chunk a little',
      `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2;${'x'.repeat(8_000)}\r\nok\r\n0\r\n\r\n`,
      { result: 'success', statusCode: 200, excerpt: 'ok' },
    ],
    [
      'has a first line without an end',
      `HTTP/1.1 200 ${'O'.repeat(80_000)}`,
      { result: 'unknown', error: 'bad-response' },
    ],
    [
      'begins with empty lines without an end',
      '\r\n'.repeat(40_000),
      { result: 'unknown', error: 'bad-response' },
    ],
    [
      'ends its body by closing',
      'HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nwhole',
      { result: 'success', statusCode: 200, excerpt: 'whole' },
    ],
    [
      'answers with broken JSON',
      'HTTP/1.1 409 Conflict\r\ncontent-type: application/json\r\ncontent-length: 5\r\n\r\n{"a":',
      { result: 'failure', statusCode: 409, excerpt: '{"a":' },
    ],
  ]
  for (const [what, bytes, answer] of answers) {
    it(`A branch that ${what} is answered as ${answer.error ?? answer.result}`, async () => {
      const server = await serveBytes((socket) => socket.end(bytes))
      expect(await callOnce(server.url)).toEqual(answer)
      await server.untilClosed(1)
    })
  }

  it('A call ends when the branch extends each of many chunks of a byte by far', async () => {
    const chunk = `1;${'x'.repeat(8_000)}\r\na\r\n`
    const head = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'
    const server = await serveBytes((socket) => socket.end(`${head}${chunk.repeat(50)}0\r\n\r\n`))
    expect(await callOnce(server.url)).toMatchObject({
      result: 'unknown',
      error: 'bad-response',
      statusCode: 200,
    })
    await server.untilClosed(1)
  })

  it('A call ends as reset when the branch resets the connection after it has read the request', async () => {
    const server = await serveBytes((socket) => socket.resetAndDestroy())
    expect(await callOnce(server.url)).toEqual({ result: 'unknown', error: 'reset' })
  })

  it('A call is refused when nothing listens', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    server.close()
    await once(server, 'close')
    if (address === null || typeof address === 'string') throw new Error('no port')
    const answer = await callOnce(`http://127.0.0.1:${address.port}/`)
    expect(answer).toEqual({ result: 'unknown', error: 'refused' })
  })

  it('A call to a name that does not exist ends as a failed look-up', async () => {
    const targets = targetPolicy({ services: [], allowed: [], others: 'any', isLocal: true })
    const caller = testCaller({ targets, lookup: fixedLookup({}) })
    const answer = await caller.call(buildCall('http://nowhere.invalid/'))
    expect(answer).toEqual({ result: 'unknown', error: 'dns' })
  })

  it('A call fails in TLS when the branch speaks no TLS', async () => {
    const server = await serveBytes((socket) => socket.end('HTTP/1.1 200 OK\r\n\r\n'))
    const answer = await callOnce(`https://127.0.0.1:${server.port}/`)
    expect(answer).toEqual({ result: 'unknown', error: 'tls' })
  })
})

describe('an oversized body', () => {
  const MEBIBYTE = Buffer.alloc(1024 * 1024, 'x')

  async function flood(status: number): Promise<{ answer: BranchAnswer; sentBytes: number }> {
    let sentBytes = 0
    const server = await serveHttp((_request, response) => {
      response.writeHead(status, { 'content-length': 1024 ** 3 })
      const more = (): void => {
        while (!response.destroyed && response.write(MEBIBYTE)) sentBytes += MEBIBYTE.length
      }
      response.on('drain', more)
      more()
    })
    const answer = await callOnce(server.url, { timeoutMs: 20_000 })
    await server.untilClosed(1)
    return { answer, sentBytes }
  }

  for (const [status, result] of [
    [200, 'success'],
    [409, 'failure'],
    [500, 'unknown'],
  ] as const) {
    it(`An oversized body is not read on, and the status ${status} counts as ${result}`, async () => {
      const { answer, sentBytes } = await flood(status)
      expect(answer).toEqual({ result, statusCode: status, excerpt: 'x'.repeat(1024) })
      // The buffers of the sockets take some bytes beyond the 1 MiB that was read.
      expect(sentBytes).toBeLessThan(16 * 1024 * 1024)
    })
  }

  it.each([
    [200, { result: 'success' }],
    [409, { result: 'failure' }],
    [500, { result: 'unknown' }],
    // It would be asked again each second for ever.
    [425, { result: 'unknown', error: 'bad-response' }],
  ] as const)(
    'A body in chunks of one byte is not read on, and the status %i counts as %o',
    async (status, counted) => {
      let sentBytes = 0
      const chunks = Buffer.from('1\r\nx\r\n'.repeat(10_000))
      const server = await serveBytes((socket) => {
        socket.write(`HTTP/1.1 ${status} S\r\ntransfer-encoding: chunked\r\n\r\n`)
        const more = (): void => {
          while (!socket.destroyed && socket.write(chunks)) sentBytes += chunks.length
        }
        socket.on('drain', more)
        more()
      })
      const answer = await callOnce(server.url, { timeoutMs: 20_000 })
      await server.untilClosed(1)
      expect(answer).toEqual({ ...counted, statusCode: status, excerpt: 'x'.repeat(1_024) })
      expect(sentBytes).toBeLessThan(16 * 1024 * 1024)
    },
  )

  it('A body in many chunks that are not tiny is read whole', async () => {
    const server = await serveHttp((_request, response) => {
      response.writeHead(200)
      for (let sent = 0; sent < 5_000; sent++) response.write('y'.repeat(80))
      response.end('end')
    })
    const answer = await callOnce(server.url, { timeoutMs: 20_000, bodyBytesKept: 1_000_000 })
    expect(answer.body).toBe(`${'y'.repeat(400_000)}end`)
  })

  it('An oversized body that comes in one piece with its head, and ends its connection, counts by its status too', async () => {
    const server = await serveBytes((socket) => {
      socket.end(
        'HTTP/1.1 409 Conflict\r\nconnection: close\r\ncontent-length: 20\r\n\r\n01234567890123456789',
      )
    })
    const caller = testCaller({ answerBodyBytesMax: 10, connectionsPerOriginMax: 1 })
    for (let n = 0; n < 3; n++) {
      expect(await caller.call(buildCall(server.url))).toEqual({
        result: 'failure',
        statusCode: 409,
        excerpt: '0123456789',
      })
    }
  })

  it('A body may be exactly as long as the bound', async () => {
    const server = await serveHttp((_request, response) => response.end(MEBIBYTE))
    expect(await callOnce(server.url)).toMatchObject({ result: 'success' })
    expect(server.countOpen()).toBe(1)
  })

  it('A packed body is not inflated, and its bytes are not shown', async () => {
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024))
    const server = await serveHttp((_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' })
      response.end(bomb)
    })
    const before = process.memoryUsage().arrayBuffers
    expect(await callOnce(server.url)).toEqual({ result: 'success', statusCode: 200 })
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(16 * 1024 * 1024)
  })
})

describe('redirects and proxies', () => {
  const saved = { ...process.env }
  afterEach(() => {
    process.env = { ...saved }
  })

  for (const status of [301, 302, 303, 307, 308]) {
    it(`A call does not go to the target of a ${status}`, async () => {
      const target = await serveHttp((_request, response) => response.end())
      const server = await serveHttp((_request, response) => {
        response.writeHead(status, { location: target.url })
        response.end()
      })
      expect(await callOnce(server.url)).toEqual({ result: 'unknown', statusCode: status })
      expect(target.countAccepted()).toBe(0)
    })
  }

  it('A call does not go to a proxy of the environment', async () => {
    const proxy = await serveHttp((_request, response) => response.end())
    const server = await serveHttp((_request, response) => response.end('direct'))
    for (const name of ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'ALL_PROXY']) process.env[name] = proxy.url
    process.env.NODE_USE_ENV_PROXY = '1'
    expect(await callOnce(server.url)).toMatchObject({ result: 'success', excerpt: 'direct' })
    expect(proxy.countAccepted()).toBe(0)
  })
})
