import { once } from 'node:events'
import { createServer } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { selfSignedCertificate } from '@counterstep/test-servers/certificate'
import { describe, expect, it, onTestFinished } from 'vitest'
import { buildCall, serveBytes, serveHttp } from './hostile-server.ts'
import { testCaller } from './test-caller.ts'

interface TestProxy {
  readonly url: string
  /** These tunnels were asked for, each with its login. */
  readonly asked: (string | undefined)[][]
}

/** Serves a proxy that makes tunnels to this machine, whatever the name, or refuses each with a status. */
async function serveProxy(refusal?: number): Promise<TestProxy> {
  const asked: (string | undefined)[][] = []
  const sockets = new Set<Socket>()
  const proxy = createServer()
  proxy.on('connect', (request, client: Socket) => {
    asked.push([request.url, request.headers['proxy-authorization']])
    sockets.add(client)
    client.on('error', () => client.destroy())
    if (refusal !== undefined) {
      client.end(`HTTP/1.1 ${refusal} No\r\ncontent-length: 0\r\n\r\n`)
      return
    }
    const branch = connect(Number(request.url?.split(':').at(-1)), '127.0.0.1', () => {
      client.write('HTTP/1.1 200 OK\r\n\r\n')
      client.pipe(branch).pipe(client)
    })
    sockets.add(branch)
    branch.on('error', () => client.destroy())
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    proxy.closeAllConnections()
    proxy.close()
  })
  return { url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, asked }
}

const targets = { check: () => undefined, resolve: (url: string) => new URL(url), mayReach: () => true }

describe('a call through a proxy', () => {
  it('A call goes by a tunnel to the name of the branch, which the proxy looks up, and keeps its connection', async () => {
    const seen: unknown[] = []
    const server = await serveHttp((request, response) => {
      seen.push([request.headers.host, request.headers['proxy-authorization']])
      response.end('ok')
    })
    const proxy = await serveProxy()
    const proxyUrl = proxy.url.replace('//', '//user:secret@')
    const caller = testCaller({ targets, proxyUrl, connectionsPerOriginMax: 1 })
    const host = `bank.test:${server.port}`
    for (let n = 0; n < 3; n++) {
      expect(await caller.call(buildCall(`http://${host}/debit`))).toEqual({
        result: 'success',
        statusCode: 200,
        excerpt: 'ok',
      })
    }
    expect(seen).toEqual(Array(3).fill([host, undefined]))
    expect(proxy.asked).toEqual([[host, `Basic ${btoa('user:secret')}`]])
  })

  it('A call through a proxy has the same bounds: the size of an answer, the size of its head, the deadline', async () => {
    const proxy = await serveProxy()
    const caller = testCaller({ targets, proxyUrl: proxy.url, answerBodyBytesMax: 1_024 })
    const long = await serveHttp((_request, response) => response.end('x'.repeat(1024 * 1024)))
    const head = await serveBytes((socket) => socket.write(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(20_000)}`))
    const manyFields = 'x:y\r\n'.repeat(1_000)
    const fields = await serveBytes((socket) => socket.write(`HTTP/1.1 200 OK\r\n${manyFields}`))
    const hung = await serveHttp(() => undefined)
    const callTo = async (url: string, timeoutMs: number) => {
      const { result, error } = await caller.call(buildCall(url, { timeoutMs }))
      return error ?? result
    }
    expect(await callTo(long.url, 5_000)).toBe('success')
    expect(await callTo(head.url, 5_000)).toBe('too-large')
    expect(await callTo(fields.url, 5_000)).toBe('too-large')
    expect(await callTo(hung.url, 500)).toBe('timeout')
  })

  it('A call to an https origin is encrypted up to the branch, with the certificates of that origin', async () => {
    const DAY_MS = 24 * 3_600_000
    const validity = { validFrom: new Date(Date.now() - DAY_MS), validTo: new Date(Date.now() + DAY_MS) }
    const certificate = selfSignedCertificate({ ...validity, address: '127.0.0.1' })
    const server = createTlsServer(certificate, (_request, response) => response.end('ok'))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => {
      server.closeAllConnections()
      server.close()
    })
    const origin = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
    const proxy = await serveProxy()
    const tls = new Map([[origin, { ca: certificate.cert }]])
    expect(await testCaller({ proxyUrl: proxy.url, tls }).call(buildCall(origin))).toMatchObject({
      result: 'success',
    })
    expect(await testCaller({ proxyUrl: proxy.url }).call(buildCall(origin))).toEqual({
      result: 'unknown',
      error: 'tls',
    })
  })

  for (const status of [403, 407, 502]) {
    it(`A call that the proxy refuses by ${status} is not sent, and the refusal is not the branch's answer`, async () => {
      const server = await serveHttp((_request, response) => response.end())
      const proxy = await serveProxy(status)
      const answer = await testCaller({ proxyUrl: proxy.url }).call(buildCall(server.url))
      expect([answer, server.countAccepted()]).toEqual([{ result: 'unknown', error: 'unreachable' }, 0])
    })
  }

  it('A call is not sent where the proxy is not there, ends the connection, or never answers', async () => {
    const server = await serveHttp((_request, response) => response.end())
    const ends = await serveBytes((socket) => socket.end())
    const hangs = await serveBytes(() => undefined)
    const words: unknown[] = []
    for (const proxyUrl of ['http://127.0.0.1:1', ends.url, hangs.url]) {
      const caller = testCaller({ proxyUrl, connectTimeoutMs: 100 })
      words.push((await caller.call(buildCall(server.url))).error)
    }
    expect([words, server.countAccepted()]).toEqual([['refused', 'unreachable', 'connect-timeout'], 0])
  })
})
