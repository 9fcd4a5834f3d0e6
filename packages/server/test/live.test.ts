import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { createGate, readBearerKey } from '@counterstep/access'
import type { BranchAnswer } from '@counterstep/core'
import type { FastifyInstance } from 'fastify'
import { afterEach, describe, expect, it } from 'vitest'
import { type AppDeps, buildApp } from '../src/index.ts'
import { EventStream } from '../src/live/event-stream.ts'
import { overviewExample } from '../src/openapi/operator-examples.ts'
import { buildRealServer, type RealServer } from './real-server.ts'
import { createScriptedEngine } from './scripted-engine.ts'

interface Event {
  readonly name: string
  readonly data: unknown
}

/** Reads the events of one stream as they come. */
class Reader implements AsyncDisposable {
  readonly response: Response
  readonly events: Event[] = []
  text = ''
  readonly ended: Promise<void>
  readonly #stop: AbortController

  constructor(response: Response, stop: AbortController) {
    this.response = response
    this.#stop = stop
    this.ended = this.#read().catch(() => undefined)
  }

  named(name: string): readonly unknown[] {
    return this.events.filter((event) => event.name === name).map(({ data }) => data)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    await this.ended
  }

  async #read(): Promise<void> {
    const decoder = new TextDecoder()
    for await (const bytes of this.response.body ?? []) {
      this.text += decoder.decode(bytes, { stream: true })
      this.events.splice(0, this.events.length, ...parseEvents(this.text))
    }
  }
}

function parseEvents(text: string): readonly Event[] {
  return text
    .split('\n\n')
    .slice(0, -1)
    .flatMap((frame) => {
      const [, name, data] = /^event: (.*)\ndata: (.*)$/.exec(frame) ?? []
      return name === undefined || data === undefined ? [] : [{ name, data: JSON.parse(data) }]
    })
}

const open: AsyncDisposable[] = []
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each[Symbol.asyncDispose]()
})

async function listen(app: FastifyInstance): Promise<{ readonly port: number }> {
  await app.listen({ port: 0, host: '127.0.0.1' })
  open.push({
    async [Symbol.asyncDispose]() {
      // A connection that has sent nothing yet does not count as idle.
      app.server.closeAllConnections()
      await app.close()
    },
  })
  return app.server.address() as AddressInfo
}

interface Served {
  readonly server: RealServer
  readonly app: FastifyInstance
  readonly url: string
  readonly port: number
  read(query: string): Promise<Reader>
}

async function serve(
  deps: Partial<AppDeps> = {},
  play: () => BranchAnswer = () => ({ result: 'success' }),
): Promise<Served> {
  const server = await buildRealServer(play)
  open.push(server)
  const app = buildApp({ engine: server.engine, ...deps })
  const { port } = await listen(app)
  const url = `http://127.0.0.1:${port}`
  return {
    ...{ server, app, url, port },
    async read(query) {
      const stop = new AbortController()
      const reader = new Reader(await fetch(`${url}/v1/live?${query}`, { signal: stop.signal }), stop)
      open.push(reader)
      return reader
    },
  }
}

const saga = (gid: string) => ({ gid, branches: [{ action: 'http://bank.test/debit' }] })

describe('a live stream', () => {
  it('A stream begins with the overview and the views, and tells each change and what is fresh', async () => {
    const { server, read } = await serve()
    await server.engine.submit({ gid: 't', kind: 'tcc', deadlineMs: 3_600_000 })
    const reader = await read('topics=overview,fresh&gid=t&gid=a')
    expect(reader.response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    expect(reader.response.headers.get('x-accel-buffering')).toBe('no')
    expect(reader.response.headers.get('cache-control')).toBe('no-store')
    await expect.poll(() => reader.named('view')).toMatchObject([{ gid: 't', status: 'prepared' }])
    await expect.poll(() => reader.named('overview').length).toBeGreaterThan(0)
    await server.engine.submit(saga('a'))
    await expect.poll(() => reader.named('view').at(-1)).toMatchObject({ gid: 'a', status: 'succeeded' })
    await expect.poll(() => reader.named('fresh').flat(), { timeout: 3_000 }).toMatchObject([{ gid: 'a' }])
    await expect.poll(() => reader.named('overview').length, { timeout: 3_000 }).toBeGreaterThan(1)
  })

  it('A stream says how many more were fresh than it shows', async () => {
    const { server, read } = await serve()
    const reader = await read('topics=fresh')
    await expect.poll(() => reader.text).toContain(':')
    for (let n = 0; n < 70; n++) await server.engine.submit({ gid: `t-${n}`, kind: 'tcc' })
    await expect.poll(() => reader.named('fresh-more').length, { timeout: 5_000 }).toBeGreaterThan(0)
    for (const list of reader.named('fresh')) expect((list as unknown[]).length).toBeLessThanOrEqual(50)
  })

  it.each([
    ['', 'topics'],
    ['topics=all', 'topics'],
    ['topics=fresh&since=1', 'since'],
    ['gid=%20', 'gid'],
    [`gid=${Array.from({ length: 21 }, (_, n) => n).join('&gid=')}`, 'gid'],
  ])('The query "%s" is refused', async (query, path) => {
    const { read } = await serve()
    const reader = await read(query)
    await reader.ended
    expect(JSON.parse(reader.text)).toMatchObject({ code: 'SAGA_QUERY_INVALID', status: 400, path })
  })

  it('One stream more than the bound is refused with 503, until another ends', async () => {
    const { read } = await serve({ live: { streamsMax: 2 } })
    const first = await read('topics=fresh')
    await read('topics=fresh')
    const third = await read('topics=fresh')
    expect(third.response.status).toBe(503)
    expect(third.response.headers.get('retry-after')).toBe('1')
    await first[Symbol.asyncDispose]()
    await expect.poll(async () => (await read('topics=fresh')).response.status).toBe(200)
  })

  it('S41: One key or network has its share of the streams and no more', async () => {
    const { read } = await serve({ live: { streamsMax: 9, streamsPerCallerMax: 2 } })
    for (let n = 0; n < 2; n++) expect((await read('topics=fresh')).response.status).toBe(200)
    const third = await read('topics=fresh')
    expect(third.response.status).toBe(503)
    await third.ended
    expect(JSON.parse(third.text).detail).toContain('this key or network has 2 streams')
  })

  it('A comment keeps a quiet stream open, and it ends at its age', async () => {
    const { read } = await serve({ live: { tickMs: 10, commentEveryMs: 30, ageMsMax: 1_000 } })
    const reader = await read('gid=unknown')
    await reader.ended
    expect(reader.text.split(':\n\n').length).toBeGreaterThan(3)
    expect(reader.events).toEqual([])
  })

  it('A stream whose key is no longer good ends at the next tick', async () => {
    let isGood = true
    const gate = { ...createGate({ credentials: readBearerKey }), allowsScope: () => isGood }
    const { read } = await serve({ gate, live: { tickMs: 10 } })
    const reader = await read('topics=overview')
    await expect.poll(() => reader.named('overview').length).toBeGreaterThan(0)
    isGood = false
    await reader.ended
  })

  it('A stream goes on while its key cannot be looked for, and ends once that is not good', async () => {
    let look = (): boolean => true
    const gate = { ...createGate({ credentials: readBearerKey }), allowsScope: () => look() }
    const { read } = await serve({ gate, live: { tickMs: 10 } })
    const reader = await read('topics=overview')
    let looks = 0
    look = () => {
      looks += 1
      throw new Error('the cache of keys is away')
    }
    await expect.poll(() => looks).toBeGreaterThan(2)
    const before = reader.named('overview').length
    await expect.poll(() => reader.named('overview').length).toBeGreaterThan(before)
    look = () => false
    await reader.ended
  })

  it('A stream whose session has ended ends at the next tick, and an outage of the store ends none', async () => {
    let session: 'good' | 'unknown' | 'over' = 'good'
    const found = new WeakSet<object>()
    let uses = 0
    const gate = {
      ...createGate({ credentials: readBearerKey }),
      async findSession(head: object, isUse = true) {
        // The request that opens the stream is a use, and no look at it later is one.
        uses += isUse ? 1 : 0
        if (session === 'unknown') throw new Error('the store is away')
        if (session === 'good') found.add(head)
      },
      allowsScope: (_scope: unknown, head: object) => found.has(head),
    }
    const { read } = await serve({ gate, live: { tickMs: 10 } })
    const reader = await read('topics=overview')
    session = 'unknown'
    const before = reader.named('overview').length
    await expect.poll(() => reader.named('overview').length).toBeGreaterThan(before + 2)
    session = 'over'
    await reader.ended
    expect(uses).toBe(1)
  })

  it('All streams end at once when the engine stops, and when the app closes', async () => {
    const { server, app, read } = await serve()
    const stopped = await read('topics=fresh')
    const closing = server.engine.close(5_000)
    await stopped.ended
    await closing
    const other = await serve()
    const closed = await other.read('topics=fresh')
    await other.app.close()
    await closed.ended
    await app.close()
  })

  it('A reader that takes nothing loses frames and then its stream, and the others go on', async () => {
    const big = { ...overviewExample, refusedSubmits: [{ code: 'x'.repeat(2 ** 20), count: 1 }] }
    const watch = { open: () => ({ refresh: () => undefined, close: () => undefined }) }
    const engine = createScriptedEngine({ overview: async () => big, watch })
    const { port } = await listen(buildApp({ engine, live: { tickMs: 20, fullMsMax: 300 } }))
    const [slow, quick] = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')]
    open.push({ [Symbol.asyncDispose]: async () => void quick.destroy() })
    let taken = 0
    quick.on('data', ({ length }) => {
      taken += length
    })
    for (const socket of [quick, slow])
      socket.write('GET /v1/live?topics=overview HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n')
    await once(slow, 'readable')
    // Nothing is read any more, so the buffers of the system fill up.
    const reset = once(slow, 'error')
    await expect.poll(() => taken, { timeout: 20_000 }).toBeGreaterThan(2 ** 25)
    slow.resume()
    await Promise.race([reset, once(slow, 'close')])
    const before = taken
    await expect.poll(() => taken).toBeGreaterThan(before)
  })

  it('A host without a watch answers 404, so that its callers ask again instead', async () => {
    const app = buildApp({ engine: createScriptedEngine() })
    const answer = await app.inject({ url: '/v1/live?topics=fresh' })
    expect(answer.statusCode).toBe(404)
    expect(answer.json().code).toBe('SAGA_ROUTE_UNKNOWN')
  })

  it('The route of liveness is another one', async () => {
    const { url } = await serve()
    expect(await (await fetch(`${url}/health/live`)).json()).toEqual({ status: 'live' })
    expect((await fetch(`${url}/v1/live?topics=fresh`, { method: 'HEAD' })).status).toBe(405)
  })
})

describe('the frames of a slow reader', () => {
  it('Frames beyond the room are dropped, and it is told when there is room again', async () => {
    let now = 0
    let told = 0
    const stream = new EventStream(
      () => {
        told++
      },
      () => now,
    )
    const frame = JSON.stringify('x'.repeat(10_000))
    for (let n = 0; n < 100; n++) stream.send('view', frame)
    now = 500
    expect(stream.fullMs).toBe(500)
    expect(stream.readableLength).toBeLessThan(40_000)
    expect(told).toBe(0)
    while (stream.read() !== null) now++
    expect(told).toBe(1)
    expect(stream.fullMs).toBe(0)
  })

  it('A stream that has ended takes no frame, and counts as full until its reader takes the end', () => {
    let now = 0
    const stream = new EventStream(
      () => undefined,
      () => now,
    )
    stream.send('view', '1')
    stream.end()
    stream.end()
    stream.send('view', '2')
    now = 700
    expect(stream.fullMs).toBe(700)
    expect(String(stream.read())).toBe('event: view\ndata: 1\n\n')
  })
})
