import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { getCACertificates, setDefaultCACertificates, type TLSSocket } from 'node:tls'
import { Worker } from 'node:worker_threads'
import { httpBranchCaller } from '@counterstep/branch-http'
import { selfSignedCertificate } from '@counterstep/test-servers/certificate'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { buildCall } from './hostile-server.ts'
import { testCaller } from './test-caller.ts'

const DAY_MS = 24 * 3_600_000
const trustedBefore = getCACertificates('default')
const VALIDITY = { validFrom: new Date(Date.now() - DAY_MS), validTo: new Date(Date.now() + DAY_MS) }
const valid = selfSignedCertificate({ ...VALIDITY, address: '127.0.0.1' })

beforeAll(() => setDefaultCACertificates([...trustedBefore, valid.cert]))
afterAll(() => setDefaultCACertificates(trustedBefore))

/**
 * The server runs in a thread of its own, because in this one it would answer only after the client's turn of the
 * loop.
 */
const SERVER_OF_ITS_OWN = `
  const { parentPort, workerData } = require('node:worker_threads')
  const { createServer } = require('node:https')
  let connections = 0
  const server = createServer(workerData, (request, response) => {
    request.resume().on('end', () => response.end('ok'))
  })
  server.on('secureConnection', () => connections++)
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port))
  parentPort.on('message', () => parentPort.postMessage(connections))`

/** Notes for each handshake whether it went on with an earlier session. */
async function serveTls(answer: string): Promise<{ readonly url: string; readonly resumed: boolean[] }> {
  const resumed: boolean[] = []
  const server = createServer({ ...valid, keepAliveTimeout: 60_000 }, (request, response) => {
    request.resume().on('end', () => response.end(answer))
  })
  server.on('secureConnection', (socket) => resumed.push(socket.isSessionReused()))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `https://127.0.0.1:${(server.address() as AddressInfo).port}/`, resumed }
}

it('TLS carries calls one after the other on one connection', async () => {
  const server = await serveTls('x'.repeat(100_000))
  const caller = testCaller({ connectionsPerOriginMax: 1 })
  for (let n = 0; n < 20; n++) {
    expect(await caller.call(buildCall(server.url, { body: 'ü'.repeat(50_000) }))).toEqual({
      result: 'success',
      statusCode: 200,
      excerpt: 'x'.repeat(1024),
    })
  }
  expect(server.resumed).toEqual([false])
})

it('A connection goes on with the TLS session of an earlier one to the same origin', async () => {
  const server = await serveTls('ok')
  const caller = testCaller()
  const callAll = (count: number) =>
    Promise.all(Array.from({ length: count }, () => caller.call(buildCall(server.url))))
  const answers = [...(await callAll(1)), ...(await callAll(4))]
  expect(answers.map(({ result }) => result)).toEqual(Array(5).fill('success'))
  expect(server.resumed).toEqual([false, true, true, true, true])
})

it('Connections are kept under load from a server that answers at once', async () => {
  const caller = testCaller({ connectionsPerOriginMax: 16 })
  const server = new Worker(SERVER_OF_ITS_OWN, { eval: true, workerData: valid })
  onTestFinished(async () => {
    await server.terminate()
  })
  const [port] = await once(server, 'message')
  const call = () => caller.call(buildCall(`https://127.0.0.1:${port}/`))
  for (let round = 0; round < 20; round++) {
    // A write in this phase of the loop is reported as done only in the next.
    await new Promise((resolve) => setImmediate(resolve))
    const answers = await Promise.all(Array.from({ length: 16 }, call))
    expect(answers.every(({ result }) => result === 'success')).toBe(true)
  }
  server.postMessage('how many?')
  expect(await once(server, 'message')).toEqual([16])
})

it('The authorities of one origin are trusted for that origin alone, and in place of those of Node', async () => {
  setDefaultCACertificates(trustedBefore)
  onTestFinished(() => setDefaultCACertificates([...trustedBefore, valid.cert]))
  const [own, other] = [await serveTls('ok'), await serveTls('ok')]
  const caller = testCaller({ tls: new Map([[new URL(own.url).origin, { ca: valid.cert }]]) })
  expect((await caller.call(buildCall(own.url))).result).toBe('success')
  expect(await caller.call(buildCall(other.url))).toEqual({ result: 'unknown', error: 'tls' })

  setDefaultCACertificates([...trustedBefore, valid.cert])
  const { cert } = selfSignedCertificate({ ...VALIDITY, address: '127.0.0.1' })
  const strict = testCaller({ tls: new Map([[new URL(own.url).origin, { ca: cert }]]) })
  expect(await strict.call(buildCall(own.url))).toEqual({ result: 'unknown', error: 'tls' })
})

it('The certificate of an origin is shown to a service that asks who calls, and to no other', async () => {
  const client = selfSignedCertificate({ ...VALIDITY, address: '127.0.0.2' })
  const shown: unknown[] = []
  const options = { ...valid, requestCert: true, rejectUnauthorized: false, ca: client.cert }
  const server = createServer(options, (request, response) => {
    const socket = request.socket as TLSSocket
    shown.push([socket.authorized, socket.getPeerCertificate().raw?.toString('base64')])
    response.statusCode = socket.authorized ? 200 : 403
    response.end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const tls = new Map([[new URL(url).origin, { cert: client.cert, key: client.key }]])
  expect((await testCaller({ tls }).call(buildCall(url))).result).toBe('success')
  expect((await testCaller().call(buildCall(url))).statusCode).toBe(403)
  const raw = new X509Certificate(client.cert).raw.toString('base64')
  expect(shown).toEqual([
    [true, raw],
    [false, undefined],
  ])
})

it('A caller is not made with a key that does not belong to its certificate', () => {
  const other = selfSignedCertificate({ ...VALIDITY, address: '127.0.0.1' })
  const tls = new Map([['https://bank.test', { cert: valid.cert, key: other.key }]])
  expect(() => httpBranchCaller({ tls })).toThrow(/key values mismatch/)
})

it.each([
  'https://bank.test/',
  'https://bank.test/api',
  'https://bank.test:443',
  'https://BANK.test',
  'bank.test',
  'http://bank.test',
])('A caller is not made with certificates for %s, which is not how any origin is called', (origin) => {
  expect(() => httpBranchCaller({ tls: new Map([[origin, { ca: valid.cert }]]) })).toThrow(/https origins/)
})

it('A server whose certificate no trusted authority has signed is not called', async () => {
  setDefaultCACertificates(trustedBefore)
  onTestFinished(() => setDefaultCACertificates([...trustedBefore, valid.cert]))
  const server = await serveTls('ok')
  expect(await testCaller().call(buildCall(server.url))).toEqual({ result: 'unknown', error: 'tls' })
})
