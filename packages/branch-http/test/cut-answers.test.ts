import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:tls'
import { selfSignedCertificate } from '@counterstep/test-servers/certificate'
import { describe, expect, it, onTestFinished } from 'vitest'
import { buildCall, serveBytes } from './hostile-server.ts'
import { callOnce, testCaller } from './test-caller.ts'

const DAY_MS = 24 * 3_600_000
const HEAD = 'HTTP/1.1 200 OK\r\n'
const CHUNKED = 'transfer-encoding: chunked\r\nconnection: close\r\n\r\n'
const WORDS = { wordsCount: true }
const VALUES = { bodyBytesKept: 1_024 }

describe('An answer that is cut by a reset', () => {
  for (const { what, bytes, kind } of [
    { what: 'one whose end is the end of its connection', bytes: `${HEAD}\r\n{"dtm_result":"`, kind: WORDS },
    { what: 'such a one before its body', bytes: `${HEAD}\r\n`, kind: {} },
    { what: 'a refusal', bytes: 'HTTP/1.1 409 Conflict\r\n\r\n', kind: {} },
    { what: 'one within a chunk', bytes: `${HEAD}${CHUNKED}40\r\n{"dtm_result":"`, kind: WORDS },
    { what: 'one before any chunk', bytes: `${HEAD}${CHUNKED}`, kind: {} },
    { what: 'one with a value', bytes: `${HEAD}\r\n{"id":"h-1"`, kind: VALUES },
  ]) {
    it(`is unknown: ${what}`, async () => {
      const server = await serveBytes((socket) => {
        socket.write(bytes, () => setImmediate(() => socket.resetAndDestroy()))
      })
      expect(await callOnce(server.url, kind)).toMatchObject({ result: 'unknown', error: 'reset' })
    })
  }
})

/** Ends each connection below TLS after these bytes, as one on the way can. TLS itself announces no end. */
async function serveCutTls(bytes: string) {
  const VALIDITY = { validFrom: new Date(Date.now() - DAY_MS), validTo: new Date(Date.now() + DAY_MS) }
  const certificate = selfSignedCertificate({ ...VALIDITY, address: '127.0.0.1' })
  const server = createServer(certificate, (secure) => {
    secure.on('error', () => undefined)
    secure.once('data', () => secure.write(bytes, () => secure.destroySoon()))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { url, caller: testCaller({ tls: new Map([[url, { ca: certificate.cert }]]) }) }
}

describe('An answer over TLS whose end is the end of its connection', () => {
  for (const { body, kind, answer, kept } of [
    { body: '{"dtm_result":"', kind: WORDS, answer: { result: 'unknown', error: 'unread' } },
    { body: '', kind: WORDS, answer: { result: 'unknown', error: 'unread' } },
    { body: '{"dtm_result":"SUCCESS"}', kind: WORDS, answer: { result: 'success' } },
    { body: '{"dtm_result":"FAILURE"}', kind: WORDS, answer: { result: 'failure' } },
    { body: JSON.stringify({ text: 'x'.repeat(5_000) }), kind: WORDS, answer: { result: 'success' } },
    { body: '{"id":"h-1"', kind: VALUES, answer: { result: 'success' } },
    { body: '{"id":"h-1"}', kind: VALUES, answer: { result: 'success' }, kept: '{"id":"h-1"}' },
    { body: '{"id":"h-1"', kind: {}, answer: { result: 'success' } },
  ] as readonly {
    readonly body: string
    readonly kind: object
    readonly answer: object
    readonly kept?: string
  }[]) {
    it(`is whole if it is a whole JSON text, where its body counts: ${body.slice(0, 40)} ${JSON.stringify(kind)}`, async () => {
      const { url, caller } = await serveCutTls(`${HEAD}\r\n${body}`)
      const told = await caller.call(buildCall(`${url}/`, kind))
      expect(told).toMatchObject(answer)
      expect(told.body).toBe(kept)
    })
  }
})
