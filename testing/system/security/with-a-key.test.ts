import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createKey, KeyRing, revokeKey, SCOPES } from '@counterstep/access'
import type { Store } from '@counterstep/core'
import { memoryStore } from '@counterstep/store-conformance'
import type { FastifyInstance } from 'fastify'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type BothApis, type BothApisOptions, openBothApis } from './both-apis.ts'
import { RawCaller } from './raw-caller.ts'

const POLL = { timeout: 10_000, interval: 5 }
const HOST = 'Host: 127.0.0.1\r\n'
const MIB = 1024 * 1024

const LONG_URL = `http://127.0.0.1/${'p'.repeat(1_900)}`

const APIS = [
  {
    api: 'native',
    submit: '/v1/transactions',
    list: '/v1/transactions?attention=true&limit=200',
    open: '/health/live',
    look: '/',
    large: JSON.stringify({
      gid: 'large',
      kind: 'saga',
      branches: Array.from({ length: 100 }, (_, n) => ({
        id: `b${n}`,
        action: LONG_URL,
        compensation: LONG_URL,
      })),
    }),
    lookLarge: '/v1/transactions/large',
  },
  {
    api: 'dtm',
    submit: '/api/dtmsvr/submit',
    list: '/api/dtmsvr/all?status=aborting',
    open: '/api/ping',
    look: '/api/dtmsvr/version',
    large: JSON.stringify({
      gid: 'large',
      trans_type: 'saga',
      steps: [{ action: LONG_URL }],
      payloads: ['{}'],
      custom_data: JSON.stringify({ note: 'y'.repeat(400_000) }),
    }),
    lookLarge: '/api/dtmsvr/query?gid=large',
  },
] as const

let folder = ''
let path = ''
let ring: KeyRing
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'counterstep-with-a-key-'))
  path = join(folder, 'keys.json')
  await makeKey('first')
  ring = await KeyRing.open(path, { onRead: () => undefined, onBroken: () => undefined })
})
afterAll(async () => {
  ring.close()
  await rm(folder, { recursive: true, force: true })
})

async function makeKey(name: string): Promise<string> {
  const { key } = await createKey(path, { name, scopes: SCOPES, createdAt: 0, expiresAt: null })
  return key
}

let pairs = 0

/** Makes two keys that the server knows. Each pair has names of its own. */
async function twoKeys() {
  pairs += 1
  const [flood, honest] = [await makeKey(`flood-${pairs}`), await makeKey(`honest-${pairs}`)]
  await ring.refresh()
  return { flood, honest }
}

function readKeyId(key: string): string {
  return key.split('_')[1] ?? ''
}

const opened: (BothApis | RawCaller)[] = []
afterEach(async () => {
  for (const each of opened.splice(0).reverse())
    if (each instanceof RawCaller) each.drop()
    else await each[Symbol.asyncDispose]()
})

async function apis(options: Omit<BothApisOptions, 'keys'>, store: Store = memoryStore()): Promise<BothApis> {
  const made = await openBothApis(store, { ...options, keys: ring })
  for (const app of [made.native, made.dtm]) await app.listen({ port: 0, host: '127.0.0.1' })
  opened.push(made)
  return made
}

async function caller(app: FastifyInstance): Promise<RawCaller> {
  const made = await RawCaller.to(app)
  opened.push(made)
  return made
}

function hasAnswers(some: RawCaller, count: number): Promise<unknown> {
  return expect.poll(() => some.statuses.length, POLL).toBeGreaterThanOrEqual(count)
}

function countEnded(some: readonly RawCaller[]): number {
  return some.filter(({ isEnded }) => isEnded).length
}

/** Four callers send these requests and read none of the answers. */
async function askWithoutReading(app: FastifyInstance, requests: string): Promise<readonly RawCaller[]> {
  const callers = await Promise.all(Array.from({ length: 4 }, () => caller(app)))
  for (const each of callers) {
    each.pause()
    each.send(requests)
  }
  return callers
}

it('S41: Files of the page of documents that one key does not read are held up to a bound', async () => {
  const { flood, honest } = await twoKeys()
  const { native: app, bounds, reached } = await apis({ limits: { unreadBodyBytesMax: 2 * MIB } })
  const ask = (key: string) =>
    `GET /docs/static/swagger-ui-bundle.js HTTP/1.1\r\n${HOST}Authorization: Bearer ${key}\r\n\r\n`
  await askWithoutReading(app, ask(flood).repeat(64))
  await expect.poll(() => reached, POLL).toContain('unread-body-bytes')
  expect(bounds.held.bodyBytes).toBeLessThanOrEqual(2 * MIB)
  const reader = await caller(app)
  reader.send(ask(honest))
  await hasAnswers(reader, 1)
  expect([reader.statuses, reader.isEnded]).toEqual([[200], false])
})

for (const { api, submit, list, open, look, large, lookLarge } of APIS) {
  const get = (key: string) => `GET ${list} HTTP/1.1\r\n${HOST}Authorization: Bearer ${key}\r\n\r\n`
  const post = (key: string) =>
    `POST ${submit} HTTP/1.1\r\n${HOST}Content-Type: application/json\r\nAuthorization: Bearer ${key}\r\n`

  /** Opens connections that show a key, one behind the other. */
  async function callersWith(app: FastifyInstance, key: string, count: number): Promise<RawCaller[]> {
    const made: RawCaller[] = []
    for (let n = 0; n < count; n += 1) {
      const each = await caller(app)
      each.send(get(key))
      await expect.poll(() => each.isEnded || each.statuses.length > 0, POLL).toBe(true)
      made.push(each)
    }
    return made
  }

  describe(`S41: the connections of one key to the ${api} API`, () => {
    it('The connections of one key leave room for newcomers and for another key, and make room for each other', async () => {
      const { flood, honest } = await twoKeys()
      const { [api]: app, bounds, reached } = await apis({ limits: { connectionsMax: 16 } })
      const [known] = await callersWith(app, honest, 1)
      const many = await callersWith(app, flood, 30)
      expect(bounds.held.connections).toBeLessThanOrEqual(14)
      const [operator] = await callersWith(app, honest, 1)
      expect([known?.isEnded, operator?.isEnded, operator?.statuses]).toEqual([false, false, [200]])
      expect(countEnded(many)).toBe(18)
      expect(new Set(reached)).toEqual(new Set(['connections']))
    })

    it('The connections of a key count as strangers’ soon after it is revoked', async () => {
      const { flood, honest } = await twoKeys()
      const { [api]: app } = await apis({ limits: { connectionsMax: 16, strangersPerAddressMax: 3 } })
      const many = await callersWith(app, flood, 10)
      await revokeKey(path, readKeyId(flood))
      await ring.refresh()
      await expect
        .poll(
          async () => {
            await callersWith(app, honest, 1)
            return countEnded(many)
          },
          { timeout: 10_000, interval: 200 },
        )
        .toBeGreaterThanOrEqual(7)
    })
  })

  describe(`S41: bodies that are never whole, sent to the ${api} API`, () => {
    const body = `Content-Length: 900000\r\n\r\n${' '.repeat(200_000)}`

    it('Bodies that are never whole, by one key, end none of another that holds less than its share', async () => {
      const { flood, honest } = await twoKeys()
      const { [api]: app, bounds, reached } = await apis({ limits: { unreadBodyBytesMax: 2.5 * MIB } })
      const upload = await caller(app)
      // This is the largest of all bodies, and within the share of its key.
      upload.send(`${post(honest)}Content-Length: 900000\r\n\r\n${' '.repeat(350_000)}`)
      await expect.poll(() => bounds.held.bodyBytes, POLL).toBeGreaterThan(350_000)
      const senders = await Promise.all(Array.from({ length: 20 }, () => caller(app)))
      for (const sender of senders) sender.send(post(flood) + body)
      await expect.poll(() => countEnded(senders), POLL).toBeGreaterThan(8)
      expect([upload.isEnded, new Set(reached)]).toEqual([false, new Set(['unread-body-bytes'])])
      upload.send(' '.repeat(550_000))
      await hasAnswers(upload, 1)
      expect(upload.statuses).not.toContain(401)
    })

    for (const [how, announced] of [
      ['with a length', 'Content-Length: 65536\r\n\r\n'],
      ['with a short length', 'Content-Length: 4097\r\n\r\n'],
      ['in chunks', 'Transfer-Encoding: chunked\r\n\r\n'],
    ] as const) {
      it(`Bodies are not held for a stranger while they wait for their turn: ${how}`, async () => {
        const { honest } = await twoKeys()
        const { [api]: app, bounds, reached } = await apis({ limits: { unreadBodyBytesMax: MIB } })
        const upload = await caller(app)
        upload.send(`${post(honest)}Content-Length: 1000000\r\n\r\n${' '.repeat(900_000)}`)
        await expect.poll(() => bounds.held.bodyBytes, POLL).toBeGreaterThan(900_000)
        const strangers = await Promise.all(Array.from({ length: 100 }, () => caller(app)))
        const ask = `GET ${open} HTTP/1.1\r\n${HOST}\r\n`
        // Each has had its first turn, so that all are read from at once.
        for (const each of strangers) each.send(ask)
        await expect.poll(() => strangers.every(({ statuses }) => statuses.length > 0), POLL).toBe(true)
        for (const each of strangers) each.send(`${ask.repeat(20)}${post('cs_x')}${announced}`)
        await expect.poll(() => countEnded(strangers), POLL).toBe(100)
        expect(reached).not.toContain('unread-body-bytes')
        upload.send(' '.repeat(100_000))
        await hasAnswers(upload, 1)
      })
    }
  })

  it(`S41: Answers of the ${api} API that one key does not read are held up to a bound, and another key reads its own`, async () => {
    const { flood, honest } = await twoKeys()
    const { [api]: app, bounds, reached } = await apis({ limits: { unreadBodyBytesMax: 2 * MIB } })
    const writer = await caller(app)
    writer.send(`${post(honest)}Content-Length: ${large.length}\r\n\r\n${large}`)
    await hasAnswers(writer, 1)
    const ask = (key: string) => `GET ${lookLarge} HTTP/1.1\r\n${HOST}Authorization: Bearer ${key}\r\n\r\n`
    const deaf = await askWithoutReading(app, ask(flood).repeat(32))
    await expect.poll(() => reached, POLL).toContain('unread-body-bytes')
    expect(bounds.held.bodyBytes).toBeLessThanOrEqual(2 * MIB)
    const reader = await caller(app)
    reader.send(ask(honest))
    await hasAnswers(reader, 1)
    expect([reader.statuses, reader.isEnded]).toEqual([[200], false])
    for (const each of deaf) each.resume()
    await expect.poll(() => countEnded(deaf), POLL).toBeGreaterThan(0)
  })

  it(`S41: Small answers of the ${api} API that wait behind another one are held up to a bound`, async () => {
    const { flood, honest } = await twoKeys()
    const { [api]: app, engine, bounds, reached } = await apis({ limits: { unreadBodyBytesMax: MIB } })
    const reader = await caller(app)
    const ask = (key: string) => `GET ${look} HTTP/1.1\r\n${HOST}Authorization: Bearer ${key}\r\n\r\n`
    reader.send(ask(honest))
    await hasAnswers(reader, 1)
    engine.submit = () => new Promise(() => undefined)
    engine.accept = engine.submit
    const listen = async () => {
      const deaf = await caller(app)
      deaf.send(`${post(flood)}Content-Length: ${large.length}\r\n\r\n${large}${ask(flood).repeat(100)}`)
      return deaf
    }
    const first = await listen()
    await expect.poll(() => bounds.held.bodyBytes, POLL).toBeGreaterThan(100 * 1024)
    expect(reached).toEqual([])
    const others = await Promise.all(Array.from({ length: 15 }, listen))
    await expect.poll(() => reached, POLL).toContain('unread-body-bytes')
    reader.send(ask(honest).repeat(20))
    await hasAnswers(reader, 21)
    await expect.poll(() => [first, ...others].some(({ isEnded }) => isEnded), POLL).toBe(true)
    expect([reader.isEnded, bounds.held.bodyBytes <= MIB]).toEqual([false, true])
  })

  it(`S41: Large bodies that come whole to the ${api} API at once are looked at one in a turn`, async () => {
    const { honest } = await twoKeys()
    const { [api]: app, engine, bounds } = await apis({})
    const turns: number[] = []
    let turn = 0
    const count = () => {
      turn += 1
      counting = setImmediate(count)
    }
    let counting = setImmediate(count)
    for (const method of ['submit', 'accept'] as const) {
      const take = engine[method].bind(engine)
      engine[method] = (...asked: Parameters<typeof take>) => {
        turns.push(turn)
        return Reflect.apply(take, undefined, asked)
      }
    }
    const senders = await Promise.all(Array.from({ length: 6 }, () => caller(app)))
    for (const [n, each] of senders.entries()) {
      const body = large.replace('large', `l${n}`).padEnd(500_000)
      each.send(`${post(honest)}Content-Length: 500001\r\n\r\n${body}`)
    }
    await expect.poll(() => bounds.held.bodyBytes, POLL).toBeGreaterThan(6 * 500_000)
    for (const each of senders) each.send(' ')
    for (const each of senders) await hasAnswers(each, 1)
    clearImmediate(counting)
    expect(new Set(turns).size).toBe(6)
  })

  it(`S41: A body of chunks with a GET of the ${api} API ends its connection, and is not kept until the answer`, async () => {
    const { honest } = await twoKeys()
    const { [api]: app } = await apis({})
    const reader = await caller(app)
    const head = `GET ${list} HTTP/1.1\r\n${HOST}Authorization: Bearer ${honest}\r\n`
    reader.send(`${head}Transfer-Encoding: chunked\r\n\r\n${'1\r\nx\r\n'.repeat(10_000)}`)
    await expect.poll(() => reader.isEnded, POLL).toBe(true)
    expect(reader.statuses).toEqual([400])
  })

  it(`S41: Requests that many connections of one key pipeline to the ${api} API are read by turns with another key's`, async () => {
    const { flood, honest } = await twoKeys()
    const { [api]: app } = await apis({ limits: { pipelinedRequestsMax: 100_000 } })
    const ask = (key: string) => `GET ${look} HTTP/1.1\r\n${HOST}Authorization: Bearer ${key}\r\n\r\n`
    const [other, senders] = [
      await caller(app),
      await Promise.all(Array.from({ length: 30 }, () => caller(app))),
    ]
    other.send(ask(honest))
    for (const each of senders) each.send(ask(flood))
    for (const each of [other, ...senders]) await hasAnswers(each, 1)
    const seen = { parsed: 0, atOther: 0 }
    app.server.once('request', () => other.send(ask(honest)))
    app.server.on('request', ({ socket }) => {
      if (socket.remotePort === other.port) seen.atOther = seen.parsed
      seen.parsed += 1
    })
    for (const each of senders) each.send(ask(flood).repeat(1_000))
    await hasAnswers(other, 2)
    expect(seen.atOther).toBeLessThan(12_000)
  })

  it(`S42: Lists of one key over the ${api} API leave turns to another`, async () => {
    const { flood, honest } = await twoKeys()
    const store = memoryStore()
    const held: (() => void)[] = []
    const { list: readList } = store
    store.list = async (query) => {
      await new Promise<void>((resolve) => held.push(resolve))
      return readList.call(store, query)
    }
    const { [api]: app } = await apis({ settings: { scansAtOnceMax: 1, readWaitMs: 30_000 } }, store)
    let seen = 0
    app.server.on('request', () => {
      seen += 1
    })
    const many = await Promise.all(Array.from({ length: 20 }, () => caller(app)))
    for (const each of many) each.send(get(flood))
    await expect.poll(() => seen, POLL).toBe(20)
    const other = await caller(app)
    other.send(get(honest))
    await expect.poll(() => seen, POLL).toBe(21)
    for (let read = 0; read < 4; read += 1) {
      await expect.poll(() => held.length, POLL).toBe(1)
      held.shift()?.()
    }
    await hasAnswers(other, 1)
    expect(other.statuses).toEqual([200])
    for (const each of [...many, other]) each.drop()
    const release = setInterval(() => held.shift()?.(), 1)
    await expect.poll(() => held.length, POLL).toBe(0)
    clearInterval(release)
  })
}
