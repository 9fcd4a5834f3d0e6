import type { ConnectionLimits } from '@counterstep/access'
import { memoryStore } from '@counterstep/store-conformance'
import { type FastifyInstance, fastify } from 'fastify'
import { afterEach, describe, expect, it } from 'vitest'
import { type BothApis, type BothApisOptions, openBothApis } from './both-apis.ts'
import { RawCaller } from './raw-caller.ts'

/** Tells what is stuck from what is slow on a machine with other work. */
const POLL = { timeout: 25_000, interval: 5 }
const NO_KEYS = { find: () => undefined }
const HOST = 'Host: 127.0.0.1\r\n'
const JSON_TYPE = 'Content-Type: application/json\r\n'
const UNLIMITED = Number.POSITIVE_INFINITY

const APIS = [
  { api: 'native', submit: '/v1/transactions', open: '/health/live' },
  { api: 'dtm', submit: '/api/dtmsvr/submit', open: '/api/ping' },
] as const

const opened: (BothApis | RawCaller)[] = []
afterEach(async () => {
  for (const each of opened.splice(0).reverse())
    if (each instanceof RawCaller) each.drop()
    else await each[Symbol.asyncDispose]()
})

/** `prepare` adds what only can be added before an app listens. */
async function apis(
  options: BothApisOptions,
  prepare: (app: FastifyInstance) => void = () => undefined,
): Promise<BothApis> {
  const made = await openBothApis(memoryStore(), options)
  for (const app of [made.native, made.dtm]) {
    prepare(app)
    await app.listen({ port: 0, host: '127.0.0.1' })
  }
  opened.push(made)
  return made
}

async function caller(app: FastifyInstance): Promise<RawCaller> {
  const made = await RawCaller.to(app)
  opened.push(made)
  return made
}

function callers(app: FastifyInstance, count: number): Promise<RawCaller[]> {
  return Promise.all(Array.from({ length: count }, () => caller(app)))
}

function hasEnded(some: RawCaller): Promise<unknown> {
  return expect.poll(() => some.isEnded, POLL).toBe(true)
}

function hasAnswers(some: RawCaller, count: number): Promise<unknown> {
  return expect.poll(() => some.statuses.length, POLL).toBeGreaterThanOrEqual(count)
}

for (const { api, submit, open } of APIS) {
  const post = `POST ${submit} HTTP/1.1\r\n${HOST}${JSON_TYPE}`
  const bodies: readonly (readonly [string, string])[] = [
    [
      'a body of a length that never comes whole',
      `${post}Content-Length: 1000000\r\n\r\n${'x'.repeat(60_000)}`,
    ],
    ['chunks', `${post}Transfer-Encoding: chunked\r\n\r\nfff0\r\n${'x'.repeat(60_000)}`],
    ['a body behind an Expect', `${post}Expect: 100-continue\r\nContent-Length: 1000000\r\n\r\n`],
    ['a wrong key and a body', `${post}Authorization: Bearer cs_x\r\nContent-Length: 9000\r\n\r\nx`],
  ]

  describe(`S41: a caller of the ${api} API without a key`, () => {
    for (const [what, bytes] of bodies) {
      it(`A caller without a good key that sends ${what} is answered at the head, and loses its connection`, async () => {
        const { [api]: app, bounds } = await apis({ keys: NO_KEYS })
        const stranger = await caller(app)
        stranger.send(bytes)
        await hasEnded(stranger)
        expect(stranger.statuses.at(-1)).toBe(401)
        await expect.poll(() => bounds.held, POLL).toEqual({ connections: 0, bodyBytes: 0, requests: 0 })
      })
    }

    it('Nothing is looked at that a caller sends behind a refused request', async () => {
      let requests = 0
      const { [api]: app } = await apis({ keys: NO_KEYS }, (each) =>
        each.addHook('onRequest', (_request, _reply, done) => {
          requests += 1
          done()
        }),
      )
      const stranger = await caller(app)
      stranger.send(
        `GET /api/dtmsvr/all HTTP/1.1\r\n${HOST}\r\n`
          .repeat(500)
          .replaceAll('/api/dtmsvr/all', api === 'dtm' ? '/api/dtmsvr/all' : '/v1/transactions'),
      )
      await hasEnded(stranger)
      expect(stranger.statuses).toEqual([401])
      expect(requests).toBe(1)
    })

    it('A body that no route takes is not read', async () => {
      const { [api]: app, bounds } = await apis({ keys: NO_KEYS })
      const stranger = await caller(app)
      stranger.send(bodies[0]?.[1].replace(submit, '/nothing') ?? '')
      await hasAnswers(stranger, 1)
      expect([stranger.statuses, bounds.held.bodyBytes]).toEqual([[404], 0])
    })

    it('Mutant: a caller keeps its connection where the refusal does not end it', async () => {
      const { [api]: app } = await apis({ keys: NO_KEYS }, (each) =>
        each.addHook('onSend', (_request, reply, payload, done) => {
          reply.removeHeader('connection')
          done(null, payload)
        }),
      )
      const stranger = await caller(app)
      stranger.send(`${post}Content-Length: 2\r\n\r\n{}`)
      await hasAnswers(stranger, 1)
      expect(await caller(app)).toMatchObject({ isEnded: false })
      expect(stranger.isEnded).toBe(false)
    })
  })

  describe(`S41: bodies that are never whole, sent to the ${api} API where there are no keys`, () => {
    const MIB = 1024 * 1024
    const spellings = [
      ['with a length', `${post}Content-Length: 900000\r\n\r\n`, ''],
      ['in one chunk', `${post}Transfer-Encoding: chunked\r\n\r\n`, 'dbba0\r\n'],
      ['in many chunks', `${post}Transfer-Encoding: chunked\r\n\r\n`, '7d0\r\n'],
    ] as const

    async function attack(head: string, chunk: string, unreadBodyBytesMax: number) {
      const { [api]: app, bounds, reached } = await apis({ limits: { unreadBodyBytesMax } })
      const senders = await callers(app, 8)
      const piece =
        chunk === '7d0\r\n' ? `${chunk}${' '.repeat(2_000)}\r\n`.repeat(100) : chunk + ' '.repeat(200_000)
      for (const sender of senders) sender.send(head + piece)
      return { app, bounds, reached, senders }
    }

    for (const [how, head, chunk] of spellings) {
      it(`Bodies that are never whole, ${how}, are held up to a bound, and a caller with a small one is served`, async () => {
        const { app, bounds, reached, senders } = await attack(head, chunk, MIB)
        await expect.poll(() => senders.filter(({ isEnded }) => isEnded).length, POLL).toBeGreaterThan(2)
        expect(bounds.held.bodyBytes).toBeLessThanOrEqual(MIB)
        expect(new Set(reached)).toEqual(new Set(['unread-body-bytes']))
        const small = await caller(app)
        small.send(`${post}Content-Length: 20000\r\n\r\n${' '.repeat(20_000)}`)
        await hasAnswers(small, 1)
        for (const sender of senders) sender.drop()
        await expect.poll(() => bounds.held.bodyBytes, POLL).toBe(0)
      })
    }

    it('Mutant: bodies that are never whole are all held where there is no bound', async () => {
      const { bounds } = await attack(spellings[0][1], '', UNLIMITED)
      await expect.poll(() => bounds.held.bodyBytes, POLL).toBeGreaterThan(1.5 * MIB)
    })
  })

  describe(`S41: what a stranger of the ${api} API may have held`, () => {
    const waiting = `GET ${open} HTTP/1.1\r\n${HOST}\r\n`.repeat(32)

    it('Nothing is held for a connection that is gone, though its requests never had their turn', async () => {
      const { [api]: app, bounds } = await apis({ keys: NO_KEYS })
      for (const announced of [
        'Content-Length: 65536',
        'Content-Length: 4300',
        'Transfer-Encoding: chunked',
      ]) {
        const strangers = await callers(app, 20)
        for (const each of strangers) {
          each.send(`${waiting}POST ${submit} HTTP/1.1\r\n${HOST}${announced}\r\n\r\n`)
          each.drop()
        }
        await expect.poll(() => bounds.held, POLL).toEqual({ connections: 0, bodyBytes: 0, requests: 0 })
      }
    })

    for (const body of ['Content-Length: 5', 'Transfer-Encoding: chunked', 'content-length: 1000000']) {
      it(`No body is held for a route that is open to all: ${body}`, async () => {
        const { [api]: app, bounds } = await apis({ keys: NO_KEYS })
        for (const method of api === 'dtm' ? ['POST', 'GET', 'PUT'] : ['GET']) {
          const stranger = await caller(app)
          stranger.send(`${method} ${open} HTTP/1.1\r\n${HOST}${JSON_TYPE}${body}\r\n\r\n`)
          await hasEnded(stranger)
          expect(stranger.statuses).toEqual([400])
        }
        await expect.poll(() => bounds.held.bodyBytes, POLL).toBe(0)
      })
    }

    it('Each chunk of a body is counted, since each is kept as an object of its own', async () => {
      const { [api]: app, reached } = await apis({ limits: { unreadBodyBytesMax: 1024 * 1024 } })
      const some = await caller(app)
      some.send(`${post}Transfer-Encoding: chunked\r\n\r\n${'1\r\na\r\n'.repeat(5_000)}`)
      await hasEnded(some)
      expect(reached).toContain('unread-body-bytes')
    })

    for (const [what, head] of [
      ['an Expect that Node answers by itself', `${HOST}Expect: x\r\n`],
      ['another such Expect, and two Hosts', `${HOST}${HOST}expect: 200-ok\r\n`],
      ['no Host', ''],
    ] as const) {
      it(`A connection of requests with ${what} is not held, however many there are`, async () => {
        const { [api]: app, bounds } = await apis({ keys: NO_KEYS })
        const stranger = await caller(app)
        stranger.send(`GET ${open} HTTP/1.1\r\n${head}\r\n`.repeat(500))
        await hasEnded(stranger)
        expect(stranger.statuses.length).toBeLessThanOrEqual(1)
        await expect.poll(() => bounds.held.connections, POLL).toBe(0)
      })
    }
  })

  describe(`S41: pipelined requests to the ${api} API`, () => {
    const MANY = 120
    const spellings = [
      ['an open route', `GET ${open} HTTP/1.1\r\n${HOST}\r\n`],
      ['a path that no route has', `GET /nothing HTTP/1.1\r\n${HOST}\r\n`],
      ['a route with a body', `${post}Content-Length: 2\r\n\r\n{}`],
    ] as const

    /** Counts the requests of one caller that are begun before one of another, which came behind the first of them. */
    async function begunBefore(
      request: string,
      limits: Pick<ConnectionLimits, 'requestsPerTurnMax'> & Partial<ConnectionLimits>,
    ): Promise<number> {
      const begun: number[] = []
      const { [api]: app } = await apis({ limits }, (each) =>
        each.addHook('onRequest', async ({ raw }) => void begun.push(raw.socket.remotePort ?? 0)),
      )
      const [flood, other] = [await caller(app), await caller(app)]
      other.send(`GET ${open} HTTP/1.1\r\n${HOST}\r\n`)
      await hasAnswers(other, 1)
      begun.length = 0
      app.server.once('request', () => other.send(`GET ${open} HTTP/1.1\r\n${HOST}\r\n`))
      flood.send(request.repeat(MANY))
      await hasAnswers(other, 2)
      const position = begun.indexOf(other.port)
      await hasAnswers(flood, MANY)
      return position
    }

    it('Pipelined requests for a route with a body are begun a few at a time, and others get their turn', async () => {
      expect(await begunBefore(spellings[2][1], { requestsPerTurnMax: 4 })).toBeLessThan(MANY / 2)
    })

    it('Nothing more of a connection is parsed once it is refused', async () => {
      const { [api]: app, reached } = await apis({})
      let parsed = 0
      app.server.on('request', () => (parsed += 1))
      const flood = await caller(app)
      flood.send(spellings[0][1].repeat(1_000))
      await hasEnded(flood)
      expect(reached).toEqual(['pipelined-requests'])
      expect(parsed).toBeLessThan(50)
    })

    for (const [what, request] of spellings.slice(0, 2)) {
      it(`A stranger that pipelines many requests for ${what} loses its connection, and others get their turn`, async () => {
        let begun = 0
        const { [api]: app, reached } = await apis({}, (each) =>
          each.addHook('onRequest', async () => void begun++),
        )
        const flood = await caller(app)
        flood.send(request.repeat(MANY))
        await hasEnded(flood)
        expect(reached).toEqual(['pipelined-requests'])
        expect(begun).toBeLessThanOrEqual(4)
        const other = await caller(app)
        other.send(`GET ${open} HTTP/1.1\r\n${HOST}\r\n`)
        await hasAnswers(other, 1)
      })

      it(`A stranger that pipelines a few requests for ${what} gets all answers`, async () => {
        const { [api]: app } = await apis({})
        const some = await caller(app)
        some.send(request.repeat(16))
        await hasAnswers(some, 16)
      })
    }

    it('Mutant: pipelined requests keep all others waiting where each turn has no bound', async () => {
      expect(
        await begunBefore(spellings[0][1], { requestsPerTurnMax: UNLIMITED, turnMsMax: UNLIMITED }),
      ).toBe(MANY)
    })

    /** Counts the requests of silent connections, which all send at once, that are parsed before one of another caller begins. */
    async function parsedBefore(requestsPerTurnMax: number, turnMsMax = 12): Promise<number> {
      const seen = { parsed: 0, atOther: 0, otherPort: -1 }
      const limits = { requestsPerTurnMax, turnMsMax, pipelinedRequestsMax: 100_000 }
      const { [api]: app } = await apis({ limits }, (each) =>
        each.addHook('onRequest', async ({ raw }) => {
          if (raw.socket.remotePort === seen.otherPort) seen.atOther = seen.parsed
        }),
      )
      const other = await caller(app)
      other.send(`${post}Content-Length: 2\r\n\r\n{}`)
      await hasAnswers(other, 1)
      const silent = await callers(app, 30)
      for (const each of silent) each.send(`GET ${open} HTTP/1.1\r\n${HOST}\r\n`)
      await Promise.all(silent.map((each) => hasAnswers(each, 1)))
      seen.otherPort = other.port
      app.server.once('request', () => other.send(`GET ${open} HTTP/1.1\r\n${HOST}\r\n`))
      app.server.on('request', () => {
        seen.parsed += 1
      })
      for (const each of silent) each.send(`GET ${open} HTTP/1.1\r\n${HOST}\r\n`.repeat(1_000))
      await hasAnswers(other, 2)
      return seen.atOther
    }

    it('Pipelined requests of many connections that send them at once are read by turns', async () => {
      expect(await parsedBefore(4)).toBeLessThan(12_000)
    })

    it('Mutant: pipelined requests of many connections are all read before anything else where each turn has no bound', async () => {
      expect(await parsedBefore(UNLIMITED, UNLIMITED)).toBeGreaterThan(20_000)
    })

    /** Counts the requests of many connections without a key, which all send at once, that begin before one of another caller. */
    async function begunBeforeKnown(turnMsMax: number): Promise<number> {
      const begun: number[] = []
      const { [api]: app } = await apis({ limits: { turnMsMax } }, (each) =>
        each.addHook('onRequest', async ({ raw }) => void begun.push(raw.socket.remotePort ?? 0)),
      )
      const ask = `GET ${open} HTTP/1.1\r\n${HOST}\r\n`
      const [known, ...strangers] = await callers(app, 101)
      known?.send(spellings[2][1])
      for (const each of strangers) each.send(ask)
      for (const each of [known, ...strangers]) await hasAnswers(each as RawCaller, 1)
      begun.length = 0
      app.server.once('request', () => known?.send(ask))
      for (const each of strangers) each.send(ask.repeat(4))
      await hasAnswers(known as RawCaller, 2)
      for (const each of strangers) await hasAnswers(each, 5)
      return begun.indexOf(known?.port ?? 0)
    }

    it('Requests of many connections without a key leave turns to a caller that has passed, and all are answered', async () => {
      expect(await begunBeforeKnown(0.05)).toBeLessThan(100)
    })

    it('Mutant: requests of many connections without a key are all begun before another where a turn has no end', async () => {
      expect(await begunBeforeKnown(UNLIMITED)).toBe(400)
    })

    it('Pipelined requests over the number that may wait in all end their connection', async () => {
      const { [api]: app, bounds, reached } = await apis({ limits: { pipelinedRequestsMax: 100 } })
      const flood = await caller(app)
      flood.send(spellings[0][1].repeat(1_000))
      await hasEnded(flood)
      expect([reached, bounds.held.requests]).toEqual([['pipelined-requests'], 0])
    })

    it('Pipelined requests with a URL that cannot be read end their connection', async () => {
      const { [api]: app } = await apis({})
      const flood = await caller(app)
      flood.send(`GET /%zz HTTP/1.1\r\n${HOST}\r\n`.repeat(100))
      await hasEnded(flood)
      expect(flood.statuses).toHaveLength(1)
    })
  })

  describe(`S41: chunks of one byte, sent to the ${api} API without a key`, () => {
    const chunks = '1\r\nx\r\n'.repeat(10_000)

    it('Chunks of one byte behind the answer to a path that is not there end their connection', async () => {
      const { [api]: app } = await apis({ keys: NO_KEYS })
      const stranger = await caller(app)
      stranger.send(`POST /nothing HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n${chunks}`)
      await hasEnded(stranger)
      expect(stranger.statuses).toEqual([404])
    })

    it('Chunks of one byte over many connections at once are read by turns', async () => {
      const { [api]: app } = await apis({ keys: NO_KEYS })
      const ask = `GET ${open} HTTP/1.1\r\n${HOST}\r\n`
      const [other, ...flood] = await callers(app, 101)
      // Each has had its first turn, so that all of them may be read from at once.
      for (const each of [other, ...flood]) each?.send(ask)
      for (const each of [other, ...flood]) if (each !== undefined) await hasAnswers(each, 1)
      let begun = 0
      let begunBefore = Number.NaN
      app.server.once('request', () => other?.send(ask))
      app.server.on('request', ({ method }) => {
        if (method === 'POST') begun += 1
        else begunBefore = begun
      })
      for (const each of flood) each.send(`${post}Transfer-Encoding: chunked\r\n\r\n${chunks}`)
      if (other !== undefined) await hasAnswers(other, 2)
      expect(begunBefore).toBeLessThan(50)
    })
  })

  describe(`S41: connections to the ${api} API`, () => {
    it('Connections that say nothing make room for new ones, and none that has shown a good key ends', async () => {
      const { [api]: app, bounds, reached } = await apis({ limits: { strangersPerAddressMax: 3 } })
      const known: RawCaller[] = []
      for (let count = 0; count < 5; count += 1) {
        const each = await caller(app)
        each.send(`${post}Content-Length: 2\r\n\r\n{}`)
        await hasAnswers(each, 1)
        known.push(each)
      }
      const silent = await callers(app, 20)
      await expect.poll(() => silent.filter(({ isEnded }) => isEnded).length, POLL).toBe(17)
      const next = await caller(app)
      next.send(`GET ${open} HTTP/1.1\r\n${HOST}\r\n`)
      await hasAnswers(next, 1)
      expect(known.filter(({ isEnded }) => isEnded)).toEqual([])
      await expect.poll(() => bounds.held.connections, POLL).toBe(8)
      expect(new Set(reached)).toEqual(new Set(['strangers-per-address']))
    })

    it('Connections from one address that say nothing take at most half of all that there may be', async () => {
      const { [api]: app, bounds } = await apis({ limits: { connectionsMax: 10 } })
      const silent = await callers(app, 30)
      await expect.poll(() => silent.filter(({ isEnded }) => isEnded).length, POLL).toBe(25)
      await expect.poll(() => bounds.held.connections, POLL).toBe(5)
    })

    it('Mutant: connections that say nothing are all kept where there is no bound', async () => {
      const { [api]: app, bounds } = await apis({ limits: { connectionsMax: UNLIMITED } })
      await callers(app, 30)
      await expect.poll(() => bounds.held.connections, POLL).toBe(30)
    })

    const SLOW = { requestTimeoutMs: 100, connectionsCheckMs: 20 }
    for (const [what, bytes] of [
      ['nothing', ''],
      ['half a head', `GET ${open} HTTP/1.1\r\nHo`],
      ['half a body', `${post}Content-Length: 9\r\n\r\n{`],
    ] as const) {
      it(`Connections that send ${what} lose their descriptor with the 408, though the caller does not close`, async () => {
        const { [api]: app, bounds } = await apis({ limits: SLOW })
        const slow = await caller(app)
        if (bytes !== '') slow.send(bytes)
        await hasEnded(slow)
        await expect.poll(() => bounds.held.connections, POLL).toBe(0)
      })
    }

    it('Mutant: connections keep their descriptor where the 408 only ends the server’s side', async () => {
      const { [api]: app, bounds } = await apis({ limits: SLOW })
      app.server.removeAllListeners('clientError')
      app.server.on('clientError', (_error, socket) => socket.end('HTTP/1.1 408 Request Timeout\r\n\r\n'))
      const slow = await caller(app)
      await hasEnded(slow)
      // Another one that comes and goes meanwhile shows that the server had its time.
      const other = await caller(app)
      await hasEnded(other)
      expect(bounds.held.connections).toBe(2)
    })
  })

  describe(`S41: a request to the ${api} API that others may read in another way`, () => {
    const get = `GET ${open} HTTP/1.1\r\n`
    const odd = [
      ['has two Hosts', `${get}${HOST}Host: evil.example\r\n\r\n`],
      ['has the same Host twice', `${get}${HOST}HOST: 127.0.0.1\r\n\r\n`],
      ['says HTTP/2.0', `GET ${open} HTTP/2.0\r\n${HOST}\r\n`],
      ['says HTTP/0.9', `GET ${open}\r\n\r\n`],
      ['says HTTP/0.9 by number', `GET ${open} HTTP/0.9\r\n${HOST}\r\n`],
      ['packs its chunks', `${post}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`],
      [
        'is chunked twice',
        `${post}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      ],
      [
        'has the transfer coding identity',
        `${post}Transfer-Encoding: identity\r\nContent-Length: 2\r\n\r\n{}`,
      ],
      ['has 101 headers', `${get}${HOST}${'a: b\r\n'.repeat(100)}\r\n`],
      ['has 65 parameters', `GET ${open}?${'a&'.repeat(64)}a HTTP/1.1\r\n${HOST}\r\n`],
      [
        'has chunks in HTTP/1.0',
        `POST ${submit} HTTP/1.0\r\n${HOST}${JSON_TYPE}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      ],
    ] as const
    for (const [what, bytes] of odd) {
      it(`A request that ${what} is refused, and its connection ends`, async () => {
        const { [api]: app } = await apis({})
        const stranger = await caller(app)
        stranger.send(`${bytes}${get}${HOST}\r\n`)
        await hasEnded(stranger)
        expect(stranger.statuses).toEqual([400])
      })
    }
  })
}

it('S41: Mutant: a server of fastify alone takes two Hosts, packed chunks and HTTP/2.0', async () => {
  const app = fastify()
  app.all('/', () => 'taken')
  await app.listen({ port: 0, host: '127.0.0.1' })
  for (const bytes of [
    `GET / HTTP/1.1\r\n${HOST}Host: evil.example\r\n\r\n`,
    `GET / HTTP/2.0\r\n${HOST}\r\n`,
    `GET / HTTP/1.1\r\n${HOST}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`,
  ]) {
    const stranger = await caller(app)
    stranger.send(bytes)
    await hasAnswers(stranger, 1)
    expect([bytes, stranger.statuses]).toEqual([bytes, [200]])
  }
  await app.close()
})
