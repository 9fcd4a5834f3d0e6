import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import type { EngineApi } from '@counterstep/engine'
import type { FastifyInstance } from 'fastify'
import { afterEach, describe, expect, it } from 'vitest'
import { buildDtmApp, type DtmAppDeps } from '../src/index.ts'
import type { TopicStore } from '../src/topics/topic-store.ts'

const open: FastifyInstance[] = []
afterEach(async () => {
  for (const app of open.splice(0)) await app.close()
})

/** No request of these tests reaches the engine. */
const engine = { isStopping: false } as EngineApi
const topics: TopicStore = {
  list: async () => [],
  write: async () => 'written',
  remove: async () => 'removed',
}

async function listen(deps: Partial<DtmAppDeps> = {}): Promise<number> {
  const app = buildDtmApp({ engine, topics, checkUrl: () => undefined, ...deps })
  open.push(app)
  await app.listen({ port: 0, host: '127.0.0.1' })
  return (app.server.address() as AddressInfo).port
}

/** Sends raw bytes and returns everything that came back until the connection ended. */
async function exchange(port: number, bytes: string): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  let answer = ''
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    answer += chunk
  })
  socket.write(bytes, 'latin1')
  await once(socket, 'close')
  return answer
}

describe("a connection to DTM's HTTP API", () => {
  for (const [title, bytes, status] of [
    ['does not speak HTTP', 'GARBAGE\r\n\r\n', 400],
    ['names a path with bytes that a path must not have', 'GET /\u00e9 HTTP/1.1\r\nHost: x\r\n\r\n', 400],
    ['has headers that are too large', `GET / HTTP/1.1\r\nx: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
  ] as const) {
    it(`A connection that ${title} is answered with ${status} and closed`, async () => {
      const answer = await exchange(await listen(), bytes)
      expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
      expect(answer).toMatch(/\r\nconnection: close\r\n/i)
      expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))).toEqual({ message: expect.any(String) })
    })
  }

  for (const [title, sent] of [
    ['head', 'POST /api/dtmsvr/submit HTTP/1.1\r\nHost: x\r\n'],
    ['body', 'POST /api/dtmsvr/submit HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{"a'],
  ] as const) {
    it(`A connection that sends its ${title} too slowly is answered with 408`, async () => {
      const port = await listen({ limits: { requestTimeoutMs: 100, connectionsCheckMs: 20 } })
      expect(await exchange(port, sent)).toMatch(/^HTTP\/1\.1 408 /)
    })
  }

  for (const [what, path] of [
    ['thousands of parameters', `/${':a-'.repeat(5_000)}/`],
    ['a pattern that may take long', `/:a(${'a*'.repeat(30)})/`],
    ['a pattern that is none', '/:a(:a(/'],
  ]) {
    it(`S41: An unknown path that looks like ${what} is read as a text`, async () => {
      const errors: unknown[] = []
      const port = await listen({ onError: (error) => errors.push(error) })
      const request = `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`
      let shortestMs = Number.POSITIVE_INFINITY
      for (let sent = 0; sent < 50; sent += 1) {
        const from = performance.now()
        expect(await exchange(port, request)).toMatch(/^HTTP\/1\.1 404 .*404 page not found$/s)
        shortestMs = Math.min(shortestMs, performance.now() - from)
      }
      expect(shortestMs).toBeLessThan(2.5)
      expect(errors).toEqual([])
    })
  }

  it('A body may come under any content type, because DTM does not look at it', async () => {
    const port = await listen()
    for (const type of ['/', ';', 'json', '\u00e9', 'a/b, c/d', 'text/plain;=', '']) {
      const head = `POST /api/dtmsvr/submit HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: ${type}`
      const answer = await exchange(port, `${head}\r\nContent-Length: 2\r\n\r\n[]`)
      expect([type, answer]).toEqual([type, expect.stringContaining('json: cannot unmarshal array')])
    }
  })
})
