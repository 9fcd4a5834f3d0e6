import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { pipeline } from 'node:stream'
import { createGzip, gzipSync } from 'node:zlib'
import { type ClientOptions, createClient, isUnavailable, saga } from '@counterstep/sdk'
import { describe, expect, it, onTestFinished } from 'vitest'
import { AnswerBytes } from '../../src/transport/answer-bytes.ts'

const KIB = 1024
const MIB = KIB * KIB
const BOUND = 64 * KIB
const FINAL = {
  gid: 'g',
  kind: 'saga',
  status: 'succeeded',
  createdAt: 1,
  updatedAt: 1,
  epoch: 1,
  branches: [],
}
const transfer = saga({ gid: 'g' }).branch('debit', { action: 'http://bank/debit' })

async function serve(listener: RequestListener) {
  const sockets: Socket[] = []
  let requests = 0
  const server = createServer((request, response) => {
    requests += 1
    request.resume()
    listener(request, response)
  })
  server.on('connection', (socket) => {
    socket.on('error', () => socket.destroy())
    sockets.push(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { url, sockets, requests: () => requests }
}

/** This is a transaction of exactly so many bytes. */
function makeView(bytes: number): string {
  const empty = JSON.stringify({ ...FINAL, more: '' })
  return JSON.stringify({ ...FINAL, more: 'x'.repeat(bytes - empty.length) })
}

/** Writes for as long as the other side reads. */
function writeForEver(response: ServerResponse): void {
  const chunk = Buffer.alloc(16 * KIB, ' ')
  const write = (): void => {
    while (!response.destroyed && response.write(chunk));
  }
  response.on('drain', write)
  write()
}

function untilClose(response: ServerResponse): ServerResponse {
  response.useChunkedEncodingByDefault = false
  return response.writeHead(200, { connection: 'close' })
}

function packForEver(response: ServerResponse): void {
  const gzip = createGzip()
  pipeline(gzip, response.writeHead(200, { 'content-encoding': 'gzip' }), () => undefined)
  const chunk = randomBytes(16 * KIB)
  const write = (): void => {
    while (!gzip.destroyed && gzip.write(chunk));
  }
  gzip.on('drain', write)
  write()
}

const catchError = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  )

const TOO_LARGE = { code: 'SAGA_ANSWER_TOO_LARGE', meaning: 'unavailable' }

const ENDLESS: readonly (readonly [string, (response: ServerResponse) => void])[] = [
  [
    'announces more by its content-length',
    (response) => response.writeHead(200, { 'content-length': 5 * MIB }).write('{'),
  ],
  ['never ends, in chunks without a length', (response) => writeForEver(response.writeHead(200))],
  ['never ends, and has neither a length nor chunks', (response) => writeForEver(untilClose(response))],
  ['is packed, and never ends', (response) => packForEver(response)],
  ['is an error that never ends', (response) => writeForEver(response.writeHead(500))],
]

for (const [client, options] of [
  ["Node's HTTP client", {}],
  ['fetch', { fetch: globalThis.fetch }],
] as readonly (readonly [string, Partial<ClientOptions>])[]) {
  const makeClient = (url: string, more: Partial<ClientOptions> = {}) =>
    createClient({ url, retryForMs: 0, answerBytesMax: BOUND, ...options, ...more })

  describe(`the bound of an answer, over ${client}`, () => {
    for (const [what, answer] of ENDLESS) {
      it(`S8: The connection of an answer is ended where the answer ${what}`, async () => {
        const { url, sockets } = await serve((_request, response) => answer(response))
        expect(await catchError(makeClient(url).submit(transfer))).toMatchObject({ ...TOO_LARGE, gid: 'g' })
        await expect.poll(() => sockets[0]?.destroyed).toBe(true)
      })
    }

    it('S8: An answer of exactly the bound is taken, and one that is a byte longer is refused', async () => {
      let bytes = BOUND
      const { url } = await serve((_request, response) => response.end(makeView(bytes)))
      expect(await makeClient(url).get('g')).toMatchObject({ status: 'succeeded' })
      bytes += 1
      expect(await catchError(makeClient(url).get('g'))).toMatchObject({ ...TOO_LARGE, status: 200 })
    })

    it('S8: The bound is 4 MiB, and with a wider one the same answer is taken', async () => {
      const { url } = await serve((_request, response) => response.end(makeView(4 * MIB + 1)))
      const client = createClient({ url, ...options })
      expect(await catchError(client.get('g'))).toMatchObject(TOO_LARGE)
      expect(await makeClient(url, { answerBytesMax: 5 * MIB }).get('g')).toMatchObject({
        status: 'succeeded',
      })
    })

    it('S8: A packed answer is unpacked no further than the bound', async () => {
      const packed = gzipSync(Buffer.alloc(64 * MIB))
      const { url } = await serve((_request, response) =>
        response.writeHead(200, { 'content-encoding': 'gzip' }).end(packed),
      )
      expect(packed.length).toBeLessThan(BOUND * 2)
      expect(await catchError(makeClient(url, { answerBytesMax: 128 * KIB }).get('g'))).toMatchObject(
        // Node's client asks for no packed answer and unpacks none: to it these bytes are no JSON.
        options.fetch === undefined ? { code: 'SAGA_UNREACHABLE' } : TOO_LARGE,
      )
    })

    it('An answer that is too long is not asked for again by a call or a wait', async () => {
      const { url, requests } = await serve((_request, response) => response.end(makeView(BOUND + 1)))
      const client = makeClient(url, { retryForMs: 30_000 })
      const calls = [
        () => client.submit(transfer),
        () => client.get('g'),
        () => client.wait('g'),
        () => client.page(),
      ]
      for (const call of calls) {
        const error = await catchError(call())
        expect([isUnavailable(error), error]).toMatchObject([true, TOO_LARGE])
      }
      expect(requests()).toBe(4)
    })

    it('S8: The bound holds for what a branch answers to its try, too', async () => {
      const server = await serve((_request, response) =>
        response.end(JSON.stringify({ ...FINAL, kind: 'tcc', status: 'prepared' })),
      )
      const branch = await serve((_request, response) => writeForEver(response.writeHead(200)))
      const tried = makeClient(server.url)
        .tcc({ gid: 'g' })
        .try({ try: branch.url, confirm: branch.url, cancel: branch.url })
      expect(await catchError(tried)).toMatchObject({
        ...TOO_LARGE,
        message: expect.stringContaining(branch.url),
      })
      await expect.poll(() => branch.sockets[0]?.destroyed).toBe(true)
    })
  })
}

it('S8: An answer keeps none of its chunks, which cost more than their bytes where each has only one', () => {
  const answer = new AnswerBytes(200, null, BOUND)
  const chunk = new Uint8Array(1)
  for (const byte of Buffer.from('{"gid":"g"}')) {
    chunk[0] = byte
    answer.add(chunk)
  }
  expect(answer.text()).toBe('{"gid":"g"}')
})

describe('answerBytesMax', () => {
  it('The setting answerBytesMax is a whole number from 1 KiB to 256 MiB', () => {
    for (const answerBytesMax of [
      0,
      -1,
      1_023,
      256 * MIB + 1,
      1_024.5,
      Number.NaN,
      Number.POSITIVE_INFINITY,
      '9999',
    ]) {
      const options = { url: 'http://127.0.0.1:1', answerBytesMax } as ClientOptions
      expect(() => createClient(options)).toThrow(
        new TypeError('answerBytesMax must be a whole number from 1024 to 268435456'),
      )
    }
  })

  it('The bound of an answer holds for a stand-in of fetch without streams as well', async () => {
    const text = makeView(BOUND + 1)
    const whole = { status: 200, headers: new Headers(), text: async () => text } as Response
    const client = createClient({
      url: 'http://127.0.0.1:1',
      fetch: async () => whole,
      answerBytesMax: BOUND,
    })
    expect(await catchError(client.get('g'))).toMatchObject(TOO_LARGE)
  })
})
