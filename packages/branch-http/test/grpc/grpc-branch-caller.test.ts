import type { OutgoingHttpHeaders } from 'node:http'
import type { Http2Session } from 'node:http2'
import { buffer } from 'node:stream/consumers'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import type { BranchCall } from '@counterstep/core'
import { selfSignedCertificate } from '@counterstep/test-servers/certificate'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loopbackTargets, parseAllowedOrigins, targetPolicy } from '../../src/targets/index.ts'
import { fixedLookup } from '../fixed-lookup.ts'
import { buildCall, serveBytes } from '../hostile-server.ts'
import { answerStatus, buildGrpcCall, openCaller, serveHttp2 } from './http2-service.ts'

const DAY_MS = 24 * 3_600_000
const trustedBefore = getCACertificates('default')
const certificate = selfSignedCertificate({
  validFrom: new Date(Date.now() - DAY_MS),
  validTo: new Date(Date.now() + DAY_MS),
  address: '127.0.0.1',
})

beforeAll(() => setDefaultCACertificates([...trustedBefore, certificate.cert]))
afterAll(() => setDefaultCACertificates(trustedBefore))

function pingOnce(session: Http2Session | undefined): Promise<void> {
  return new Promise((resolve) => session?.ping(() => resolve()))
}

const OVER_BOUND = Buffer.alloc(64 * 1_024, 1)

describe('the result of a call', () => {
  for (const { code, message, answer } of [
    { code: 0, message: '', answer: { result: 'success', statusCode: 200 } },
    { code: 10, message: 'no funds', answer: { result: 'failure', statusCode: 409, excerpt: 'no funds' } },
    { code: 10, message: 'ONGOING', answer: { result: 'ongoing', statusCode: 425, excerpt: 'ONGOING' } },
    { code: 10, message: 'ONGOING work', answer: { result: 'failure', statusCode: 409 } },
    { code: 9, message: '', answer: { result: 'ongoing', statusCode: 425 } },
    { code: 2, message: 'FAILURE', answer: { result: 'unknown', error: 'grpc-2', excerpt: 'FAILURE' } },
    { code: 14, message: 'größer', answer: { result: 'unknown', error: 'grpc-14', excerpt: 'größer' } },
    { code: 999, message: '', answer: { result: 'unknown', error: 'grpc-2' } },
  ]) {
    it(`Code ${code} with the message "${message}" is ${answer.result}`, async () => {
      const { port } = await serveHttp2((stream) => answerStatus(stream, code, message))
      expect(await openCaller().call(buildGrpcCall(port))).toMatchObject(answer)
    })
  }

  for (const { what, head, trailers, answer } of [
    {
      what: 'A status in a head that is the whole answer counts',
      head: { ':status': 200, 'grpc-status': '10' },
      answer: { result: 'failure' },
    },
    {
      what: 'A success in the head of an answer does not hide the failure in its trailers',
      head: { ':status': 200, 'grpc-status': '0' },
      trailers: { 'grpc-status': '10' },
      answer: { result: 'failure' },
    },
    {
      what: 'A failure in the head of an answer does not hide the success in its trailers',
      head: { ':status': 200, 'grpc-status': '10' },
      trailers: { 'grpc-status': '0' },
      answer: { result: 'success' },
    },
    {
      what: 'An answer whose trailers have no status is unknown, whatever its head says',
      head: { ':status': 200, 'grpc-status': '0' },
      trailers: { 'x-a': 'b' },
      answer: { result: 'unknown', error: 'bad-response' },
    },
    {
      what: 'An answer that ends without trailers is unknown, whatever its head says',
      head: { ':status': 200, 'grpc-status': '0' },
      trailers: 'none',
      answer: { result: 'unknown', error: 'bad-response' },
    },
    {
      what: 'A head of HTTP status 503 is unknown, even if it says success',
      head: { ':status': 503, 'grpc-status': '0' },
      answer: { result: 'unknown', error: 'bad-response' },
    },
    {
      what: 'An answer of HTTP status 503 is unknown, even if its trailers say success',
      head: { ':status': 503 },
      trailers: { 'grpc-status': '0' },
      answer: { result: 'unknown', error: 'bad-response' },
    },
  ] as readonly {
    readonly what: string
    readonly head: OutgoingHttpHeaders
    readonly trailers?: OutgoingHttpHeaders | 'none'
    readonly answer: object
  }[]) {
    it(what, async () => {
      const { port } = await serveHttp2((stream) => {
        const waitForTrailers = typeof trailers === 'object'
        stream.respond(head, { waitForTrailers, endStream: trailers === undefined })
        if (trailers === undefined) return
        if (waitForTrailers) stream.on('wantTrailers', () => stream.sendTrailers(trailers))
        stream.end(Buffer.alloc(5))
      })
      expect(await openCaller().call(buildGrpcCall(port))).toMatchObject(answer)
    })
  }
})

describe('a call', () => {
  it('A call sends its bytes in one message, with its deadline and metadata that no submit can forge', async () => {
    let sent: { readonly body: Buffer; readonly headers: object } | undefined
    const { port } = await serveHttp2(async (stream, headers) => {
      sent = { body: await buffer(stream), headers }
      answerStatus(stream, 0)
    })
    const headers = { 'x-tenant': 'blue', 'dtm-gid': 'forged', 'grpc-timeout': '1n', te: 'gzip' }
    const call = buildGrpcCall(port, { headers, timeoutMs: 4_000 })
    expect(await openCaller().call(call)).toMatchObject({ result: 'success' })
    expect(sent?.body).toEqual(Buffer.from('\u0000\u0000\u0000\u0000\u0005hello', 'latin1'))
    expect(sent?.headers).toMatchObject({
      ':path': '/bank.Bank/Debit',
      'content-type': 'application/grpc',
      te: 'trailers',
      'dtm-gid': 'gid-1',
      'dtm-op': 'action',
      'x-tenant': 'blue',
      'grpc-timeout': expect.stringMatching(/^[34]\d{3}m$/),
    })
  })

  it('Calls to one service share one connection, and a new one is made when that has ended', async () => {
    const service = await serveHttp2((stream) => answerStatus(stream, 0))
    const caller = openCaller()
    await Promise.all(Array.from({ length: 50 }, () => caller.call(buildGrpcCall(service.port))))
    expect(service.countSessions()).toBe(1)
    for (const session of service.sessions) session.destroy()
    await expect
      .poll(() => caller.call(buildGrpcCall(service.port)))
      .toEqual({ result: 'success', statusCode: 200 })
    expect(service.countSessions()).toBe(2)
  })

  it('A service that pings once for each call keeps its connection', async () => {
    let pings = 0
    const service = await serveHttp2((stream) => {
      stream.session?.ping((error) => {
        if (error === null) pings++
      })
      answerStatus(stream, 0)
    })
    const caller = openCaller()
    for (let n = 0; n < 3_000; n += 10) {
      const calls = Array.from({ length: 10 }, () => caller.call(buildGrpcCall(service.port)))
      for (const { result } of await Promise.all(calls)) expect(result).toBe('success')
    }
    expect(service.countSessions()).toBe(1)
    // A server of Node sends at most ten pings at once.
    expect(pings).toBeGreaterThan(2_500)
  })

  it('A call over TLS trusts the authorities of Node, and says the name that it asks for', async () => {
    const { port } = await serveHttp2((stream) => answerStatus(stream, 0), certificate)
    expect(await openCaller().call(buildGrpcCall(port, {}, 'grpcs://127.0.0.1'))).toMatchObject({
      result: 'success',
    })
    expect(await openCaller().call(buildGrpcCall(port))).toMatchObject({ result: 'unknown' })
  })

  it('A service with a certificate that is not trusted is not called', async () => {
    const other = selfSignedCertificate({
      validFrom: new Date(0),
      validTo: new Date(1),
      address: '127.0.0.1',
    })
    const { port } = await serveHttp2((stream) => answerStatus(stream, 0), other)
    const answer = await openCaller().call(buildGrpcCall(port, {}, 'grpcs://127.0.0.1'))
    expect(answer).toEqual({ result: 'unknown', error: 'tls' })
  })

  for (const { what, call } of [
    { what: 'a body that an operator has edited', call: { body: '{}', contentType: 'application/json' } },
    { what: 'a header with a line break', call: { headers: { 'x-a': 'b\r\nc' } } },
    { what: 'a header that is none', call: { headers: { 'x a': 'b' } } },
  ] as readonly { readonly what: string; readonly call: Partial<BranchCall> }[]) {
    it(`A call with ${what} is not sent`, async () => {
      let calls = 0
      const { port } = await serveHttp2((stream) => {
        calls++
        answerStatus(stream, 0)
      })
      expect(await openCaller().call(buildGrpcCall(port, call))).toEqual({
        result: 'unknown',
        error: 'bad-request',
      })
      expect(calls).toBe(0)
    })
  }
})

describe('a hostile service', () => {
  for (const { what, play, error } of [
    { what: 'never answers', play: () => undefined, error: 'timeout' },
    {
      what: 'sends the head of an answer and nothing more',
      play: (stream) => stream.respond({ ':status': 200 }),
      error: 'timeout',
    },
    {
      what: 'answers without a status',
      play: (stream) => stream.respond({ ':status': 200 }, { endStream: true }),
      error: 'bad-response',
    },
    {
      what: 'answers as a proxy does',
      play: (stream) => stream.respond({ ':status': 503 }, { endStream: true }),
      error: 'bad-response',
    },
    {
      what: 'answers a status that is no number',
      play: (stream) => stream.respond({ ':status': 200, 'grpc-status': '0x0' }, { endStream: true }),
      error: 'bad-response',
    },
    { what: 'resets the stream', play: (stream) => stream.close(2), error: 'reset' },
    { what: 'ends the connection', play: (stream) => stream.session?.destroy(), error: 'reset' },
    {
      what: 'ends the connection with an error',
      play: (stream) => stream.session?.destroy(new Error('ended')),
      error: 'reset',
    },
    {
      what: 'ends the connection amid an answer',
      play: (stream) => {
        stream.respond({ ':status': 200, 'grpc-status': '0' })
        stream.write(Buffer.alloc(5))
        setTimeout(() => stream.session?.destroy(), 50)
      },
      error: 'reset',
    },
    {
      what: 'floods the answer',
      play: (stream) => {
        stream.respond({ ':status': 200 })
        const flood = () => {
          while (!stream.destroyed && stream.write(OVER_BOUND));
        }
        stream.on('drain', flood)
        flood()
      },
      error: 'too-large',
    },
    {
      what: 'sends informational answers without end',
      play: (stream) => {
        for (let n = 0; n < 20; n++) stream.additionalHeaders({ ':status': 103 })
      },
      error: 'bad-response',
    },
  ] as readonly { what: string; play: Parameters<typeof serveHttp2>[0]; error: string }[]) {
    it(`A service that ${what} makes the call unknown: ${error}`, async () => {
      const { port } = await serveHttp2(play)
      const answer = await openCaller().call(buildGrpcCall(port, { timeoutMs: 500 }))
      expect(answer).toEqual({ result: 'unknown', error })
    })
  }

  it('A service that sends huge metadata does not get it read', async () => {
    const { port } = await serveHttp2((stream) => {
      const huge = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`x-${n}`, 'x'.repeat(1_000)]))
      stream.respond({ ':status': 200, ...huge, 'grpc-status': '0' }, { endStream: true })
    })
    const answer = await openCaller().call(buildGrpcCall(port, { timeoutMs: 1_000 }))
    expect(answer).toEqual({ result: 'unknown', error: 'too-large' })
  })

  it('A service with more pings than calls keeps its calls, and the next one goes over a new connection', async () => {
    const service = await serveHttp2(async (stream) => {
      if (service.countSessions() === 1)
        for (let n = 0; n < 1_500; n += 5)
          await Promise.all(Array.from({ length: 5 }, () => pingOnce(stream.session)))
      answerStatus(stream, 0)
    })
    const caller = openCaller()
    for (const sessions of [1, 2]) {
      expect(await caller.call(buildGrpcCall(service.port))).toMatchObject({ result: 'success' })
      expect(service.countSessions()).toBe(sessions)
    }
  })

  it.each([
    ['pings', 5_000, '0000080600000000000000000000000000'],
    ['ends of its connection that leave all calls alive', 20, '0000080700000000007fffffff00000000'],
  ])('A service that floods %s loses its connection', async (_, count, frame) => {
    const { port } = await serveBytes((socket) => {
      const settings = Buffer.from('000000040000000000', 'hex')
      const frames = Array.from({ length: count }, () => Buffer.from(frame, 'hex'))
      socket.write(Buffer.concat([settings, ...frames]))
    })
    const answer = await openCaller().call(buildGrpcCall(port, { timeoutMs: 5_000 }))
    expect(answer).toEqual({ result: 'unknown', error: 'reset' })
  })

  it('A service that reads nothing any more holds no places, and the next call opens a connection', async () => {
    const { port, countAccepted } = await serveBytes((socket) => {
      const windowSettings = '0000060400000000000004' + '7fffffff'
      const windowUpdate = '000004080000000000' + '7fff0000'
      socket.write(Buffer.from(windowSettings + windowUpdate, 'hex'))
      socket.pause()
    })
    const caller = openCaller()
    const call = buildGrpcCall(port, {
      body: Buffer.alloc(1_024 * 1_024).toString('base64'),
      timeoutMs: 2_000,
    })
    for (const connections of [1, 2]) {
      const answers = await Promise.all(Array.from({ length: 32 }, () => caller.call(call)))
      for (const answer of answers) expect(answer).toEqual({ result: 'unknown', error: 'timeout' })
      expect(countAccepted()).toBe(connections)
      await expect
        .poll(() => caller.loads?.(), { timeout: 5_000 })
        .toMatchObject([{ inFlight: 0, queued: 0 }])
    }
  })

  it('A server that speaks no HTTP/2 makes the call unknown', async () => {
    const { port } = await serveBytes((socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'))
    expect(await openCaller().call(buildGrpcCall(port))).toMatchObject({ result: 'unknown' })
  })

  it('A service that hangs holds a bounded number of calls, and the others are told busy', async () => {
    const { port } = await serveHttp2(() => undefined)
    const caller = openCaller({ connectionsPerOriginMax: 2, queuedPerOriginMax: 1 })
    // The one that waits ends first, since it would else be sent when one of the others ends.
    const answers = [2_000, 2_000, 200, 200].map((timeoutMs) =>
      caller.call(buildGrpcCall(port, { timeoutMs })),
    )
    expect((await Promise.all(answers)).map(({ error }) => error)).toEqual([
      'timeout',
      'timeout',
      'busy',
      'busy',
    ])
  })

  it('The bound of the origins holds for HTTP and gRPC together', async () => {
    const hanging = await serveHttp2(() => undefined)
    const caller = openCaller({ originsMax: 1 })
    const held = caller.call(buildGrpcCall(hanging.port, { timeoutMs: 400 }))
    expect(await caller.call(buildCall('http://127.0.0.1:1/'))).toEqual({ result: 'unknown', error: 'busy' })
    await held
    await expect
      .poll(() => caller.call(buildCall('http://127.0.0.1:1/')))
      .toEqual({ result: 'unknown', error: 'refused' })
    expect(caller.loads?.()).toHaveLength(1)
  })

  it('A caller that is closed ends the calls that are under way', async () => {
    let calls = 0
    const { port } = await serveHttp2(() => {
      calls++
    })
    const caller = openCaller()
    const answer = caller.call(buildGrpcCall(port))
    await expect.poll(() => calls).toBe(1)
    await caller.close()
    expect(await answer).toEqual({ result: 'unknown', error: 'reset' })
    expect(await caller.call(buildGrpcCall(port))).toEqual({ result: 'unknown', error: 'closed' })
  })
})

describe('where a call over gRPC may go', () => {
  const policyOf = (list: string) => {
    const allowed = parseAllowedOrigins(list)
    if ('problem' in allowed) throw new Error(allowed.problem)
    return targetPolicy({ services: [], allowed: allowed.value, others: 'none', isLocal: false })
  }

  for (const { list, target, stored } of [
    {
      list: 'grpc://bank.example:50051',
      target: 'bank.example:50051/a.B/C',
      stored: 'grpc://bank.example:50051/a.B/C',
    },
    {
      list: 'grpc://Bank.example:50051',
      target: 'BANK.example:50051/a.B/C',
      stored: 'grpc://bank.example:50051/a.B/C',
    },
    {
      list: 'grpcs://*.bank.example:1',
      target: 'x.bank.example:1/a.B/C',
      stored: 'grpcs://x.bank.example:1/a.B/C',
    },
    { list: 'grpc://10.0.0.0/8:*', target: '10.1.2.3:80/a.B/C', stored: 'grpc://10.1.2.3:80/a.B/C' },
    { list: 'grpc://[fd00::1]:7', target: '[fd00::1]:7/a.B/C', stored: 'grpc://[fd00::1]:7/a.B/C' },
    { list: 'http://bank.example:50051', target: 'bank.example:50051/a.B/C', stored: undefined },
    { list: 'grpc://bank.example:50051', target: 'bank.example:50052/a.B/C', stored: undefined },
    { list: 'grpc://bank.example:50051', target: 'bank.example/a.B/C', stored: undefined },
    { list: 'grpc://bank.example:50051', target: 'bank.example:50051/a.B/C?x=1', stored: undefined },
    { list: 'grpc://bank.example:50051', target: 'bank.example:50051/../a.B/C', stored: undefined },
    { list: 'grpc://10.0.0.0/8:*', target: '0x0a.1.2.3:80/a.B/C', stored: undefined },
    { list: 'grpc://10.0.0.0/8:*', target: '169.254.169.254:80/a.B/C', stored: undefined },
  ]) {
    it(`${target} is ${stored === undefined ? 'refused' : `stored as ${stored}`} with ${list}`, () => {
      const checked = policyOf(list).checkGrpc(target)
      expect(typeof checked === 'string' ? checked : undefined).toBe(stored)
    })
  }

  it('A target that was checked is stored as before, and may still not be called over HTTP', () => {
    const policy = policyOf('grpc://open.example:1,grpcs://closed.example:1')
    for (const [target, stored] of [
      ['open.example:1/a.B/C', 'grpc://open.example:1/a.B/C'],
      ['OPEN.example:01/a.B/C', 'grpc://open.example:1/a.B/C'],
      ['closed.example:1/a.B/C', 'grpcs://closed.example:1/a.B/C'],
    ] as const) {
      expect([policy.checkGrpc(target), policy.checkGrpc(target)]).toEqual([stored, stored])
      expect(policy.check(stored)).toHaveProperty('code', 'SAGA_URL_INVALID')
    }
    expect(policy.checkGrpc('open.example:2/a.B/C')).toHaveProperty('code', 'SAGA_TARGET_NOT_ALLOWED')
  })

  it('The target of a URL is resolved once for several calls', async () => {
    const { port } = await serveHttp2((stream) => answerStatus(stream, 0))
    const policy = loopbackTargets()
    let resolved = 0
    const resolve = (url: string) => {
      resolved++
      return policy.resolve(url)
    }
    const caller = openCaller({
      targets: { check: (url) => policy.check(url), resolve, mayReach: (...at) => policy.mayReach(...at) },
    })
    for (let n = 0; n < 3; n++)
      expect(await caller.call(buildGrpcCall(port))).toMatchObject({ result: 'success' })
    expect(resolved).toBe(1)
  })

  for (const item of [
    'grpc://bank.example',
    'grpc://*.com:1',
    'grpc://a/b',
    'grpc://10.0.0.0/8',
    'grpc://169.254.169.254:1',
  ])
    it(`A list of targets cannot have ${item}`, () => {
      expect(parseAllowedOrigins(item)).toHaveProperty('problem')
    })

  it('A listed name that leads to a metadata address is not connected to', async () => {
    const lookup = fixedLookup({ 'bank.example': ['169.254.169.254'] })
    const caller = openCaller({ targets: policyOf('grpc://bank.example:50051'), lookup })
    const answer = await caller.call(buildGrpcCall(50_051, {}, 'grpc://bank.example'))
    expect(answer).toEqual({ result: 'unknown', error: 'denied-address' })
  })

  it('A listed name that leads to this machine after its check is not connected to', async () => {
    let calls = 0
    const { port } = await serveHttp2((stream) => {
      calls++
      answerStatus(stream, 0)
    })
    const lookup = fixedLookup({ 'bank.example': ['127.0.0.1'] })
    const caller = openCaller({ targets: policyOf(`grpc://bank.example:${port}`), lookup })
    expect(await caller.call(buildGrpcCall(port, {}, 'grpc://bank.example'))).toEqual({
      result: 'unknown',
      error: 'denied-address',
    })
    expect(calls).toBe(0)
  })

  it('No call goes around a proxy', async () => {
    const { port } = await serveHttp2((stream) => answerStatus(stream, 0))
    const answer = await openCaller({ proxyUrl: 'http://127.0.0.1:1' }).call(buildGrpcCall(port))
    expect(answer).toEqual({ result: 'unknown', error: 'denied-target' })
  })
})
