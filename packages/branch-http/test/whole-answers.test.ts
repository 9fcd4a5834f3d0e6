import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { describe, expect, it, vi } from 'vitest'
import { PACKED_BYTES_MAX } from '../src/packed-room.ts'
import { buildCall, serveBytes, serveHttp } from './hostile-server.ts'
import { callOnce, testCaller } from './test-caller.ts'

const KEPT_BYTES = 64 * 1024

function serveText(text: string | Buffer, status = 200, headers: Record<string, string> = {}) {
  return serveHttp((_request, response) => response.writeHead(status, headers).end(text))
}

describe('An answer whose values are used', () => {
  it('A success is given with its whole body, beside the excerpt that people are shown', async () => {
    const text = JSON.stringify({ note: 'é'.repeat(20_000), id: 7 })
    const server = await serveText(text)
    const answer = await callOnce(server.url, { bodyBytesKept: KEPT_BYTES })
    expect(answer).toMatchObject({ result: 'success', body: text })
    expect(Buffer.byteLength(answer.excerpt ?? '')).toBeLessThanOrEqual(1024)
  })

  it.each([0, 1, KEPT_BYTES])('A body of %d bytes is given whole', async (length) => {
    const server = await serveText('a'.repeat(length))
    expect(await callOnce(server.url, { bodyBytesKept: KEPT_BYTES })).toMatchObject({
      body: 'a'.repeat(length),
    })
  })

  it('A body that is one byte too long is not given, and the answer counts all the same', async () => {
    const server = await serveText('a'.repeat(KEPT_BYTES + 1))
    const answer = await callOnce(server.url, { bodyBytesKept: KEPT_BYTES })
    expect(answer.result).toBe('success')
    expect(answer).not.toHaveProperty('body')
  })

  it('A call that does not ask for a body gets none', async () => {
    const server = await serveText('{}')
    expect(await callOnce(server.url, {})).not.toHaveProperty('body')
  })

  it.each([
    ['a body that is no UTF-8', Buffer.from([0x22, 0xff, 0x22]), {}],
    ['a packed body that is broken', gzipSync('{}').subarray(0, -3), { 'content-encoding': 'gzip' }],
    ['a body in brotli', brotliCompressSync('{}'), { 'content-encoding': 'br' }],
    [
      'a packed body that is too long unpacked',
      gzipSync(Buffer.alloc(KEPT_BYTES + 1, 'a')),
      { 'content-encoding': 'gzip' },
    ],
  ])('%s is not given', async (_title, bytes, headers) => {
    const server = await serveText(bytes, 200, headers)
    const answer = await callOnce(server.url, { bodyBytesKept: KEPT_BYTES })
    expect(answer.result).toBe('success')
    expect(answer).not.toHaveProperty('body')
  })

  it.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
  ] as const)(
    'A body in %s is given unpacked, though the call asked for a plain one',
    async (coding, pack) => {
      for (const status of [200, 409]) {
        const server = await serveText(pack('{"hold":"h-1"}'), status, { 'content-encoding': coding })
        const answer = await callOnce(server.url, { bodyBytesKept: KEPT_BYTES })
        expect(answer).toMatchObject({ body: '{"hold":"h-1"}', excerpt: '{"hold":"h-1"}' })
      }
    },
  )

  it('A failure is given with its whole body', async () => {
    const text = JSON.stringify({ code: 'DECLINED', details: 'é'.repeat(20_000) })
    const server = await serveText(text, 409)
    expect(await callOnce(server.url, { bodyBytesKept: KEPT_BYTES })).toMatchObject({
      result: 'failure',
      body: text,
    })
  })

  it.each([425, 500])(
    'The body of an answer %d is not given, because it is neither a success nor a failure',
    async (status) => {
      const server = await serveText('{}', status)
      expect(await callOnce(server.url, { bodyBytesKept: KEPT_BYTES })).not.toHaveProperty('body')
    },
  )

  it('A body that did not come whole is unknown and is not given', async () => {
    const server = await serveBytes((socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n{}'))
    const answer = await callOnce(server.url, { bodyBytesKept: KEPT_BYTES })
    expect(answer.result).toBe('unknown')
    expect(answer).not.toHaveProperty('body')
  })

  it('Answers for which there is no room are asked again instead of being held', async () => {
    const atOnce = Math.ceil(PACKED_BYTES_MAX / 2 / KEPT_BYTES) + 20
    const open: (() => void)[] = []
    // Each answer comes but for its last byte, so that all are held at once.
    const server = await serveHttp((_request, response) => {
      response.writeHead(200, { 'content-length': String(KEPT_BYTES) })
      response.write('a'.repeat(KEPT_BYTES - 1))
      open.push(() => response.end('a'))
    })
    const listedOrigins = [new URL(server.url).origin]
    const caller = testCaller({ connectionsPerOriginMax: atOnce, listedOrigins })
    const calls = Array.from({ length: atOnce }, () =>
      caller.call(buildCall(server.url, { bodyBytesKept: KEPT_BYTES, timeoutMs: 30_000 })),
    )
    let refused = 0
    for (const call of calls) void call.then(({ error }) => (refused += error === 'unread' ? 1 : 0))
    await vi.waitFor(() => expect(open.length).toBe(atOnce), 20_000)
    await vi.waitFor(() => expect(refused).toBeGreaterThan(0), 20_000)
    for (const end of open) end()
    const answers = await Promise.all(calls)
    expect(answers.filter(({ body }) => body?.length === KEPT_BYTES).length).toBe(atOnce - refused)
  })
})
