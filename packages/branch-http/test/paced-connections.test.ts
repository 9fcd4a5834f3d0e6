import { once } from 'node:events'
import { createServer, type Http2Session, type ServerHttp2Stream } from 'node:http2'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { duplexPair } from 'node:stream'
import type { BranchId } from '@counterstep/protocol'
import { selfSignedCertificate } from '@counterstep/test-servers/certificate'
import { Pool } from 'undici'
import { expect, it, onTestFinished, vi } from 'vitest'
import { createGuardedConnector } from '../src/guarded-connector.ts'
import { PacedSocket } from '../src/paced-socket.ts'
import { OriginReads } from '../src/reading-time.ts'
import { answerStatus, buildGrpcCall, openCaller } from './grpc/http2-service.ts'
import { buildCall } from './hostile-server.ts'

const DAY_MS = 24 * 3_600_000

/** Reads that wait until a test lets them run. */
class HeldReads extends OriginReads {
  readonly held: (() => void)[] = []

  constructor() {
    super(
      () => undefined,
      () => undefined,
    )
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

it('What TLS itself sends is read when there is time for it, before any answer', async () => {
  const VALIDITY = { validFrom: new Date(Date.now() - DAY_MS), validTo: new Date(Date.now() + DAY_MS) }
  const certificate = selfSignedCertificate({ ...VALIDITY, address: '127.0.0.1' })
  let handshakes = 0
  const server = createTlsServer(certificate, (_request, response) => void response.end('done'))
  server.on('secureConnection', () => handshakes++)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const reads = new HeldReads()
  const connect = createGuardedConnector({
    mayReach: () => true,
    lookup: () => undefined,
    connectTimeoutMs: 10_000,
    tls: { ca: certificate.cert },
    reads,
  })
  const pool = new Pool(`https://127.0.0.1:${(server.address() as AddressInfo).port}`, { connect })
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

it('A service that ends each connection at its first call keeps few of them open', async () => {
  const sessions = new Set<Http2Session>()
  const held: ServerHttp2Stream[] = []
  const server = createServer()
  server.on('session', (session) => {
    sessions.add(session)
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
  for (let n = 1; n <= 12; n++) {
    void caller
      .call(buildGrpcCall(port, { branchId: String(n) as BranchId, timeoutMs: 20_000 }))
      .then(({ result }) => answers.push(result))
    await vi.waitFor(() => expect(held).toHaveLength(n), { timeout: 10_000 })
    await vi.waitFor(() => expect(sessions.size).toBeLessThanOrEqual(8))
  }
  // The calls on the connections that had to end are unknown, so they are asked again.
  expect(answers).toEqual(['unknown', 'unknown', 'unknown', 'unknown'])
  for (const stream of held) if (!stream.destroyed) answerStatus(stream, 0)
  await vi.waitFor(() => expect(answers.filter((result) => result === 'success')).toHaveLength(8))
})
