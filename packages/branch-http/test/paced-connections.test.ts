import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import { createServer, type Http2Session, type ServerHttp2Stream } from 'node:http2'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, connect as connectTcp, createServer as createTcpServer } from 'node:net'
import { duplexPair } from 'node:stream'
import type { TLSSocket } from 'node:tls'
import type { BranchId } from '@counterstep/protocol'
import { selfSignedCertificate } from '@counterstep/test-servers/certificate'
import { Pool } from 'undici'
import { expect, it, onTestFinished, vi } from 'vitest'
import { CONNECTIONS_MAX } from '../src/grpc/grpc-connections.ts'
import { createGuardedConnector } from '../src/guarded-connector.ts'
import { HandshakeRests } from '../src/handshake-rests.ts'
import { PacedSocket } from '../src/paced-socket.ts'
import { OriginReads, ReadingTime } from '../src/reading-time.ts'
import { answerStatus, buildGrpcCall, openCaller } from './grpc/http2-service.ts'
import { buildCall } from './hostile-server.ts'

const DAY_MS = 24 * 3_600_000

/** Reads that wait until a test lets them run. */
class HeldReads extends OriginReads {
  readonly held: (() => void)[] = []

  constructor() {
    super(() => undefined, { hold: () => undefined, count: () => 0, end: () => undefined })
  }

  override run(_connection: object, read: () => void): void {
    read()
  }

  override runInTicks(_connection: object, read: () => void): void {
    this.held.push(read)
  }
}

it('A connection is read by bounded pieces, each in a turn of its own', async () => {
  const [sender, receiver] = duplexPair()
  let waits = 0
  const paced = new PacedSocket(receiver, { onWaiting: () => waits++, onClosed: () => undefined })
  const pieces: number[] = []
  paced.on('data', (piece: Buffer) => pieces.push(piece.length))
  sender.write(Buffer.alloc(15_000))
  await vi.waitFor(() => expect(waits).toBeGreaterThan(0))
  expect(pieces).toEqual([])
  paced.readSome()
  expect(pieces).toEqual([15_000])
  receiver.unshift(Buffer.alloc(40_000))
  paced.readSome()
  expect(pieces).toEqual([15_000, 16 * 1024])
  paced.destroy()
  expect(receiver.destroyed).toBe(true)
})

for (const bytes of [0, 9_000, 40_000]) {
  it(`The end of a connection comes after all that it has brought, also in a later turn: ${bytes} bytes`, async () => {
    const server = createTcpServer((socket) => void socket.end(Buffer.alloc(bytes)))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    const socket = connectTcp({ host: '127.0.0.1', port: (server.address() as AddressInfo).port })
    let isWaiting = false
    const paced = new PacedSocket(socket, { onWaiting: () => (isWaiting = true), onClosed: () => undefined })
    onTestFinished(() => void paced.destroy())
    let received = 0
    paced.on('data', (piece: Buffer) => (received += piece.length))
    const ended = once(paced, 'end')
    const timer = setInterval(() => {
      if (isWaiting) paced.readSome()
      isWaiting = false
    }, 20)
    onTestFinished(() => clearInterval(timer))
    await ended
    expect(received).toBe(bytes)
  })
}

it('A connection that ends whole closes when a reader that has paused has read all', async () => {
  const server = createTcpServer((socket) => void socket.end(Buffer.alloc(9_000)))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const socket = connectTcp({ host: '127.0.0.1', port: (server.address() as AddressInfo).port })
  const paced: PacedSocket = new PacedSocket(socket, {
    onWaiting: () => paced.readSome(),
    onClosed: () => undefined,
    endsWhole: true,
  })
  onTestFinished(() => void paced.destroy())
  const ended = once(socket, 'end')
  paced.read(0)
  await ended
  expect(paced.destroyed).toBe(false)
  let received = 0
  paced.on('data', (piece: Buffer) => (received += piece.length))
  await once(paced, 'close')
  expect(received).toBe(9_000)
})

it('Reads whose work comes in ticks take their share of the time, and each counts once', async () => {
  const reads = new ReadingTime(0.5).openOrigin()
  const startedAt = performance.now()
  await Promise.all(
    Array.from({ length: 100 }, () => {
      return new Promise<void>((resolve) => {
        reads.runInTicks({}, () => {
          process.nextTick(() => {
            work(1)
            resolve()
          })
        })
      })
    }),
  )
  // They took 100 ms. With each of the ticks counted for all reads before it, 42 ms of rest would follow on each of them.
  expect(performance.now() - startedAt).toBeLessThan(1_500)
})

it('An answer over HTTPS that ends with its connection is read to its end', async () => {
  const { certificate, url } = await serveTls((_request, response) => {
    response.writeHead(200, { connection: 'close' })
    response.end('x'.repeat(60_000))
  })
  const reads = new HeldReads()
  const connect = createGuardedConnector({
    ...{ mayReach: () => true, lookup: () => undefined, connectTimeoutMs: 10_000 },
    ...{ tls: { ca: certificate.cert }, reads, handshakes: new HandshakeRests().openOrigin(url, true) },
  })
  const pool = new Pool(url, { connect })
  onTestFinished(() => pool.destroy())
  const timer = setInterval(() => reads.held.shift()?.(), 20)
  onTestFinished(() => clearInterval(timer))
  const answer = await pool.request({ path: '/', method: 'GET' })
  expect((await answer.body.text()).length).toBe(60_000)
})

function work(ms: number): void {
  const until = performance.now() + ms
  while (performance.now() < until);
}

async function serveTls(answer: RequestListener) {
  const VALIDITY = { validFrom: new Date(Date.now() - DAY_MS), validTo: new Date(Date.now() + DAY_MS) }
  const certificate = selfSignedCertificate({ ...VALIDITY, address: '127.0.0.1' })
  const server = createTlsServer(certificate, answer)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return { certificate, server, url: `https://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

it('What TLS itself sends is read when there is time for it, before any answer', async () => {
  let handshakes = 0
  const { certificate, server, url } = await serveTls((_request, response) => void response.end('done'))
  server.on('secureConnection', () => handshakes++)
  const reads = new HeldReads()
  const connect = createGuardedConnector({
    mayReach: () => true,
    lookup: () => undefined,
    connectTimeoutMs: 10_000,
    tls: { ca: certificate.cert },
    reads,
    handshakes: new HandshakeRests().openOrigin(url, true),
  })
  const pool = new Pool(url, { connect })
  onTestFinished(() => pool.destroy())
  const answer = pool.request({ path: '/', method: 'GET' })
  await vi.waitFor(() => expect(reads.held).toHaveLength(1))
  expect(handshakes).toBe(0)
  const timer = setInterval(() => reads.held.shift()?.(), 5)
  onTestFinished(() => clearInterval(timer))
  expect(await (await answer).body.text()).toBe('done')
})

it('A handshake of very many bytes, and one by DHE, end the connection', async () => {
  const VALIDITY = { validFrom: new Date(Date.now() - DAY_MS), validTo: new Date(Date.now() + DAY_MS) }
  const certificate = selfSignedCertificate({ ...VALIDITY, address: '127.0.0.1' })
  const chain = { ...certificate, cert: certificate.cert.repeat(150) }
  const dhe = {
    ...certificate,
    ciphers: 'DHE-RSA-AES128-GCM-SHA256',
    dhparam: 'auto',
    maxVersion: 'TLSv1.2',
  } as const
  for (const options of [chain, dhe]) {
    const server = createTlsServer(options, (_request, response) => void response.end('done'))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
    const caller = openCaller({ listedOrigins: [url], tls: new Map([[url, { ca: certificate.cert }]]) })
    expect(await caller.call(buildCall(`${url}/`))).toMatchObject({ result: 'unknown', error: 'tls' })
  }
})

for (const hasCertificate of [false, true]) {
  it(`A service asks for another handshake on a connection that stands in vain, unless a certificate is shown to it: ${hasCertificate}`, async () => {
    const VALIDITY = { validFrom: new Date(Date.now() - DAY_MS), validTo: new Date(Date.now() + DAY_MS) }
    const certificate = selfSignedCertificate({ ...VALIDITY, address: '127.0.0.1' })
    let handshakes = 0
    const server = createTlsServer({ ...certificate, maxVersion: 'TLSv1.2' }, (request, response) => {
      const socket = request.socket as TLSSocket
      socket.renegotiate({}, () => {
        handshakes++
        response.end('done')
      })
    })
    server.on('secureConnection', () => handshakes++)
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
    const own = hasCertificate ? certificate : {}
    const tls = new Map([[url, { ca: certificate.cert, ...own }]])
    const answer = await openCaller({ listedOrigins: [url], tls }).call(buildCall(`${url}/`))
    expect([answer.result, handshakes]).toEqual(hasCertificate ? ['success', 2] : ['unknown', 1])
  })
}

it('A service that ends each connection at its first call keeps few of them open', async () => {
  const sessions = new Set<Http2Session>()
  const held: ServerHttp2Stream[] = []
  let left = 0
  const server = createServer()
  server.on('session', (session) => {
    sessions.add(session)
    // The caller knows that the connection ends, and makes no more calls on it.
    session.once('goaway', () => left++)
    session.on('error', () => undefined)
    session.once('close', () => sessions.delete(session))
  })
  server.on('stream', (stream) => {
    stream.on('error', () => undefined)
    held.push(stream)
    stream.session?.goaway()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const session of sessions) session.destroy()
    server.close()
  })
  const caller = openCaller()
  const { port } = server.address() as AddressInfo
  const answers: string[] = []
  for (let n = 1; n <= CONNECTIONS_MAX + 4; n++) {
    void caller
      .call(buildGrpcCall(port, { branchId: String(n) as BranchId, timeoutMs: 20_000 }))
      .then(({ result }) => answers.push(result))
    if (n <= CONNECTIONS_MAX)
      await vi.waitFor(() => expect([held.length, left]).toEqual([n, n]), { timeout: 10_000 })
  }
  await vi.waitFor(() => expect(sessions.size).toBe(CONNECTIONS_MAX))
  expect(held).toHaveLength(CONNECTIONS_MAX)
  // A call that waits opens another one when one of them has ended.
  await vi.waitFor(
    () => {
      for (const stream of held.splice(0)) answerStatus(stream, 0)
      expect(answers).toHaveLength(CONNECTIONS_MAX + 4)
    },
    { timeout: 15_000 },
  )
  // Calls that began together on a connection that ended at the first of them are unknown.
  expect(answers.filter((result) => result === 'success').length).toBeGreaterThanOrEqual(CONNECTIONS_MAX)
  expect(sessions.size).toBeLessThanOrEqual(CONNECTIONS_MAX)
})
