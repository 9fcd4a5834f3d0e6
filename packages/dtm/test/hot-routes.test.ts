import { IncomingMessage } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { bearerOrBasicKey, createGate, loopbackHosts } from '@counterstep/access'
import type { EngineApi } from '@counterstep/engine'
import { CounterstepError } from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import { buildDtmApp, type DtmAppDeps } from '../src/index.ts'
import type { TopicStore } from '../src/topics/topic-store.ts'

const refuse = async () => {
  throw new CounterstepError('SAGA_WRONG_KIND', 'no')
}
const engine = {
  isStopping: false,
  submit: refuse,
  accept: refuse,
  read: async () => undefined,
  submitPrepared: refuse,
  addBranch: refuse,
  registerBranch: refuse,
  abort: refuse,
} as unknown as EngineApi
const topics: TopicStore = {
  list: async () => [],
  write: async () => 'written',
  remove: async () => 'removed',
}
/** A field that the small reader leaves to Node, and that means nothing. */
const COLD = 'x-empty:'

async function ask(deps: Partial<DtmAppDeps>, line: string, body: string, fields: readonly string[]) {
  await using app = buildDtmApp({ engine, topics, checkUrl: () => undefined, ...deps })
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  let reader = 'nobody'
  app.server.on('request', (request) => {
    reader = request instanceof IncomingMessage ? 'node' : 'hot'
  })
  const socket = connect(port, '127.0.0.1')
  let text = ''
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
  })
  const head = [`${line} HTTP/1.1`, `host: 127.0.0.1:${port}`, `content-length: ${body.length}`, ...fields]
  socket.write(`${head.join('\r\n')}\r\n\r\n${body}`)
  await expect.poll(() => text, { timeout: 10_000 }).toMatch(/\r\n\r\n\{.*\}$/s)
  socket.destroy()
  const [answerHead = '', answer] = text.split('\r\n\r\n')
  const lines = answerHead.toLowerCase().split('\r\n')
  const same = answer?.replace(/"gid":"[^"]+"/, '"gid"')
  return { reader, head: lines.map((each) => each.replace(/^date: .*/, 'date')).sort(), body: same }
}

describe("a request of DTM's hot routes that the small reader reads is answered as one that Node reads:", () => {
  const keyed: Partial<DtmAppDeps> = {
    gate: createGate({
      keys: { find: () => undefined },
      credentials: bearerOrBasicKey,
      hosts: loopbackHosts([]),
    }),
  }
  const stopping: Partial<DtmAppDeps> = { engine: { ...engine, isStopping: true } }
  for (const [title, line, body, fields, deps] of [
    ['a new gid', 'GET /api/dtmsvr/newGid', '', []],
    [
      'a submit',
      'POST /api/dtmsvr/submit',
      '{"gid":"a","trans_type":"saga","steps":[{"action":"http://x/a"}],"payloads":["{}"]}',
      [],
    ],
    ['a submit that is no JSON', 'POST /api/dtmsvr/submit', '{"gid', ['content-type: text/html']],
    [
      'a prepare',
      'POST /api/dtmsvr/prepare',
      '{"gid":"a","trans_type":"tcc"}',
      ['content-type: application/json'],
    ],
    ['an abort', 'POST /api/dtmsvr/abort', '{"gid":"a","trans_type":"tcc"}', []],
    ['a branch', 'POST /api/dtmsvr/registerBranch', '{"gid":"a","trans_type":"tcc","branch_id":"01"}', []],
    [
      'one of a page of another origin',
      'POST /api/dtmsvr/submit',
      '{}',
      ['origin: https://elsewhere.example'],
    ],
    ['one without a key', 'POST /api/dtmsvr/submit', '{}', [], keyed],
    ['one to a node that stops', 'GET /api/dtmsvr/newGid', '', [], stopping],
  ] as const) {
    it(title, async () => {
      const hot = await ask(deps ?? {}, line, body, fields)
      const cold = await ask(deps ?? {}, line, body, [...fields, COLD])
      expect([hot.reader, cold.reader]).toEqual(['hot', 'node'])
      expect({ ...hot, reader: '' }).toEqual({ ...cold, reader: '' })
    })
  }
})
