import { once } from 'node:events'
import { IncomingMessage } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { bearerKey, createGate, loopbackHosts } from '@counterstep/access'
import { CounterstepError } from '@counterstep/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type AppDeps, buildApp, createRegistry } from '../src/index.ts'
import { type ScopeKeys, scopeKeys } from './scope-keys.ts'
import { READY, scriptedEngine, submitViewOf } from './scripted-engine.ts'

let held: ScopeKeys
beforeAll(async () => {
  held = await scopeKeys()
})
afterAll(() => held[Symbol.asyncDispose]())

interface Sent {
  readonly fields?: readonly string[]
  readonly body?: string
  readonly line?: string
}

/** A field that the small reader leaves to Node, and that means nothing. */
const COLD = 'x-empty:'

function requestOf({ fields = [], body = '{}', line = 'POST /v1/transactions HTTP/1.1' }: Sent): string {
  const length = `content-length: ${Buffer.byteLength(body)}`
  const type = fields.some((field) => field.startsWith('content-type'))
    ? []
    : ['content-type: application/json']
  return `${[line, ...type, length, ...fields].join('\r\n')}\r\n\r\n${body}`
}

/** One request to an app of its own: who read it, and the answer with what differs each time taken out. */
async function ask(deps: Partial<AppDeps>, sent: Sent) {
  const registry = createRegistry()
  await using app = buildApp({ engine: scriptedEngine(), registry, ...deps })
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  let reader = 'nobody'
  app.server.on('request', (request) => {
    reader = request instanceof IncomingMessage ? 'node' : 'hot'
  })
  const socket = connect(port, '127.0.0.1')
  const closed = once(socket, 'close')
  let text = ''
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
  })
  const hasHost = sent.fields?.some((field) => field.startsWith('host')) === true
  const fields = [...(hasHost ? [] : [`host: 127.0.0.1:${port}`]), ...(sent.fields ?? [])]
  socket.write(requestOf({ ...sent, fields }))
  await expect.poll(() => isWhole(text), { timeout: 10_000 }).toBe(true)
  if (/\r\nconnection: close\r\n/i.test(text)) await closed
  socket.destroy()
  const metrics = await registry.metrics()
  return {
    reader,
    head: headOf(text),
    body: text.slice(text.indexOf('\r\n\r\n') + 4),
    counted: countedOf(metrics),
  }
}

function isWhole(text: string): boolean {
  const end = text.indexOf('\r\n\r\n')
  const length = /\r\ncontent-length: (\d+)\r\n/i.exec(text)?.[1]
  return end >= 0 && Buffer.byteLength(text.slice(end + 4)) === Number(length)
}

function headOf(text: string): readonly string[] {
  const [status = '', ...fields] = text.slice(0, text.indexOf('\r\n\r\n')).split('\r\n')
  const same = (field: string) => field.toLowerCase().replace(/^(date|counterstep-request-id): .*/, '$1')
  return [status, ...fields.map(same).sort()]
}

function countedOf(metrics: string): readonly string[] {
  return metrics.split('\n').filter((line) => line.startsWith('counterstep_http_answers_total{'))
}

const failing = (error: Error): Partial<AppDeps> => ({
  engine: scriptedEngine({ submit: async () => Promise.reject(error) }),
})
const ended = scriptedEngine({
  submit: async () => submitViewOf('ä €', { status: 'succeeded' }),
})

describe('a submit that the small reader reads is answered as one that Node reads:', () => {
  const keyed = (): Partial<AppDeps> => ({ gate: createGate({ keys: held.ring, credentials: bearerKey }) })
  for (const [title, status, deps, sent] of [
    ['accepted', 202, {}, {}],
    ['with a wait, ended', 200, { engine: ended }, { fields: ['prefer: wait=3'] }],
    ['not valid', 422, failing(new CounterstepError('SAGA_INVALID', 'no')), {}],
    ['no JSON', 400, {}, { body: '{"a' }],
    ['an empty body', 400, {}, { body: '' }],
    ['JSON that would poison', 422, {}, { body: '{"__proto__":{}}' }],
    ['another type', 415, {}, { fields: ['content-type: text/plain'] }],
    ['no type that could be', 415, {}, { fields: ['content-type: json'] }],
    ['another charset', 415, {}, { fields: ['content-type: application/json; charset=latin1'] }],
    ['compressed', 415, {}, { fields: ['content-encoding: gzip'] }],
    ['a wait that cannot be', 202, {}, { fields: ['prefer: wait=x'] }],
    ['of a page of another origin', 403, {}, { fields: ['origin: https://elsewhere.example'] }],
    [
      'to another host',
      421,
      { gate: createGate({ credentials: bearerKey, hosts: loopbackHosts([]) }) },
      { fields: ['host: elsewhere.example'] },
    ],
    ['without a key', 401, keyed, {}],
    ['with a wrong key', 401, keyed, { fields: ['authorization: Bearer none'] }],
    ['refused by the store', 503, failing(new CounterstepError('SAGA_STORE_UNAVAILABLE', 'no')), {}],
    ['a bug', 500, failing(new Error('a bug')), {}],
    [
      'to a node that stops',
      202,
      { engine: scriptedEngine({ health: () => ({ ...READY, ready: false, reason: 'stopping' }) }) },
      {},
    ],
  ] as const) {
    it(`${title}, ${status}`, async () => {
      const given: Partial<AppDeps> = typeof deps === 'function' ? deps() : deps
      const hot = await ask(given, sent)
      const cold = await ask(given, { ...sent, fields: [...('fields' in sent ? sent.fields : []), COLD] })
      expect([hot.reader, cold.reader]).toEqual(['hot', 'node'])
      expect(hot.head[0]).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
      expect({ ...hot, reader: '' }).toEqual({ ...cold, reader: '' })
      expect(hot.counted).toHaveLength(1)
    })
  }
})
