import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { describe, expect, it, vi } from 'vitest'
import { KeptBody } from '../src/kept-body.ts'
import { unpackBody } from '../src/unpack-body.ts'
import { buildCall, serveBytes, serveHttp, type TestServer } from './hostile-server.ts'
import { callOnce, testCaller } from './test-caller.ts'

const MEBIBYTE = 1024 * 1024
const FAILURE = '{"dtm_result":"FAILURE"}'

/** Packs its answer whatever the call accepts, as some frameworks and proxies do. */
function servePacked(status: number, coding: string, body: Buffer): Promise<TestServer> {
  return serveHttp((_request, response) =>
    response.writeHead(status, { 'content-encoding': coding }).end(body),
  )
}

describe('a packed answer whose words count', () => {
  const codings = [
    ['gzip', 'gzip', gzipSync],
    ['gzip', 'GZIP', gzipSync],
    ['gzip', 'x-gzip', gzipSync],
    ['zlib', 'deflate', deflateSync],
    ['raw deflate', 'deflate', deflateRawSync],
  ] as const
  for (const [format, coding, pack] of codings) {
    it(`A packed answer in ${format}, under the name ${coding}, is read like a plain one`, async () => {
      const answers = [
        [200, FAILURE, 'failure'],
        [200, 'ONGOING', 'ongoing'],
        [200, '{"dtm_result":"SUCCESS"}', 'success'],
        [409, 'ONGOING', 'ongoing'],
        [409, 'no', 'failure'],
        [500, FAILURE, 'failure'],
        [500, 'no', 'unknown'],
        [425, 'no', 'ongoing'],
      ] as const
      for (const [status, text, result] of answers) {
        const server = await servePacked(status, coding, pack(text))
        const answer = await callOnce(server.url, { wordsCount: true })
        expect([status, text, answer.result]).toEqual([status, text, result])
        if (status !== 425) expect(answer.excerpt).toBe(text)
      }
    })
  }

  const unreadable: readonly (readonly [string, string, Buffer])[] = [
    ['that is broken', 'gzip', Buffer.from('no gzip')],
    ['that is cut short', 'gzip', gzipSync(FAILURE).subarray(0, -3)],
    ['that grows over the bound', 'gzip', gzipSync(Buffer.alloc(40 * MEBIBYTE))],
    ['that grows over the bound', 'deflate', deflateSync(Buffer.alloc(40 * MEBIBYTE))],
    ['by brotli', 'br', brotliCompressSync(FAILURE)],
    ['packed twice', 'gzip, gzip', gzipSync(gzipSync(FAILURE))],
    ['by an unknown coding', 'best', Buffer.from(FAILURE)],
  ]
  for (const [what, coding, body] of unreadable) {
    it(`A packed answer ${what} (${coding}) counts by its status, but a 200 is not believed and says so`, async () => {
      const results: Record<number, unknown> = {}
      for (const status of [200, 409, 425, 500]) {
        const server = await servePacked(status, coding, body)
        const { excerpt: _, ...answer } = await callOnce(server.url, { wordsCount: true })
        results[status] = answer
      }
      expect(results).toEqual({
        200: { result: 'unknown', statusCode: 200, error: 'unread' },
        409: { result: 'failure', statusCode: 409 },
        425: { result: 'ongoing', statusCode: 425 },
        500: { result: 'unknown', statusCode: 500 },
      })
    })
  }

  it('A packed answer that is over the bound while still packed counts by its status, too', async () => {
    const noise = Buffer.from(Uint8Array.from({ length: 64 * 1024 }, (_, n) => (n * n * 31) >> 3))
    const caller = testCaller({ answerBodyBytesMax: 1_024 })
    const packed = gzipSync(noise, { level: 0 })
    for (const [status, result] of [
      [200, 'unknown'],
      [409, 'failure'],
    ] as const) {
      const server = await servePacked(status, 'gzip', packed)
      expect(await caller.call(buildCall(server.url, { wordsCount: true }))).toMatchObject({ result })
    }
  })
})

describe('a packed answer whose status alone counts', () => {
  it('A packed answer whose status alone counts is not unpacked, and no bytes of it are shown', async () => {
    for (const [status, result] of [
      [200, 'success'],
      [409, 'failure'],
      [425, 'ongoing'],
    ] as const) {
      const server = await servePacked(status, 'gzip', gzipSync(FAILURE))
      expect(await callOnce(server.url)).toEqual({ result, statusCode: status })
    }
  })
})

describe('an answer whose coding packs nothing', () => {
  for (const coding of ['identity', 'none', 'utf-8', 'aws-chunked']) {
    it(`An answer whose coding packs nothing is read as it is: ${coding}`, async () => {
      const done = await servePacked(200, coding, Buffer.from('{"dtm_result":"SUCCESS"}'))
      expect(await callOnce(done.url, { wordsCount: true })).toMatchObject({ result: 'success' })
      const failed = await servePacked(200, coding, Buffer.from(FAILURE))
      expect(await callOnce(failed.url, { wordsCount: true })).toMatchObject({ result: 'failure' })
    })
  }
})

describe('a call', () => {
  it('A call asks for an answer that is not packed', async () => {
    const accepted: unknown[] = []
    const server = await serveHttp((request, response) => {
      accepted.push(request.headers['accept-encoding'])
      response.end()
    })
    await callOnce(server.url)
    await callOnce(server.url, { method: 'GET' })
    expect(accepted).toEqual(['identity', 'identity'])
  })
})

describe('the unpacking', () => {
  it('The unpacking stops at its bound, to the byte', () => {
    const packed = gzipSync(Buffer.alloc(1_000, 'x'))
    expect(unpackBody(packed, 'gzip', 1_000)).toHaveLength(1_000)
    expect(unpackBody(packed, 'gzip', 999)).toBeUndefined()
  })

  it('The unpacking of an empty body gives an empty body', () => {
    expect(unpackBody(Buffer.alloc(0), 'br', MEBIBYTE)).toHaveLength(0)
  })

  it('The unpacking reads all parts of a body that was packed in several', () => {
    const parts = Buffer.concat([gzipSync('{"dtm_result":'), gzipSync('"FAILURE"}')])
    expect(unpackBody(parts, 'gzip', MEBIBYTE)?.toString()).toBe(FAILURE)
  })
})

describe('an answer whose words count', () => {
  it('An answer whose words count is not kept beyond what is shown, though its words are found', async () => {
    const server = await serveHttp((_request, response) => response.end(`${'a'.repeat(900_000)}FAILURE`))
    const add = vi.spyOn(KeptBody.prototype, 'add')
    const answer = await callOnce(server.url, { wordsCount: true })
    const kept = add.mock.calls.reduce((sum, [bytes]) => sum + bytes.length, 0)
    add.mockRestore()
    expect(answer.result).toBe('failure')
    expect(kept).toBeLessThan(2_048)
  })

  it('Packed answers that do not end are kept up to a bound that they share', async () => {
    const head = `HTTP/1.1 200 OK\r\nContent-Length: ${MEBIBYTE}\r\nContent-Encoding: gzip\r\n\r\n`
    const bytes = Buffer.concat([Buffer.from(head), Buffer.alloc(MEBIBYTE - 1_024, 'a')])
    const server = await serveBytes((socket) => socket.write(bytes))
    const caller = testCaller()
    const calls = Array.from({ length: 60 }, () =>
      caller.call(buildCall(server.url, { wordsCount: true, timeoutMs: 60_000 })),
    )
    expect(await Promise.race(calls)).toMatchObject({ result: 'unknown', error: 'unread' })
    await caller.close()
    await Promise.all(calls)
  })
})
