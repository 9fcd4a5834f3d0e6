import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { call, hotServer } from './hot-server.ts'

const field = fc.constantFrom(
  'Host: x',
  'content-length: 5',
  'Content-Length:  5 ',
  'content-length: 4',
  'content-length: 05',
  'content-length: 6',
  'transfer-encoding: chunked',
  'transfer-encoding: identity',
  'connection: keep-alive',
  'connection: close',
  'proxy-connection: close',
  'keep-alive: timeout=5',
  'expect: 100-continue',
  'x-a:',
  'x-a: b, c',
  'X-b: \xfc',
  'cookie: a=b',
  'content-type: application/json',
)
const body = fc.constantFrom('', 'hello', 'hell', '5\r\nhello\r\n0\r\n\r\n')
const request = fc
  .record({
    line: fc.constantFrom(
      'POST /hot HTTP/1.1',
      'POST /hot HTTP/1.1',
      'GET /hot HTTP/1.1',
      'POST /cold HTTP/1.1',
    ),
    fields: fc.uniqueArray(field, { maxLength: 4 }),
    body,
  })
  .map(({ line, fields, body: text }) => `${[line, 'Host: y', ...fields].join('\r\n')}\r\n\r\n${text}`)
const plain = 'POST /hot HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello'
/** Up to three, behind one another; one place of it all changed: a byte left out, doubled, or another in its stead. */
const damaged = fc
  .tuple(
    fc.array(fc.oneof(request, fc.constant(plain)), { minLength: 1, maxLength: 3 }),
    fc.nat(600),
    fc.constantFrom('none', '', ' ', '\r', '\n', '\0', ':', ',', '1', '0', '\t', '\xa0', 'same'),
  )
  .map(([requests, place, insert]) => {
    const text = requests.join('')
    const at = place % text.length
    if (insert === 'none') return text
    return text.slice(0, at) + (insert === 'same' ? text.charAt(at).repeat(2) : insert) + text.slice(at + 1)
  })

/** Ends each run: seen only by who has not misunderstood what came before. */
const LAST = 'GET /last HTTP/1.1\r\nHost: x\r\n\r\n'

interface Seen {
  readonly head: readonly unknown[]
  /** Undefined where a fault behind it kept it from its listener. */
  readonly body: string | undefined
}

/** Gives what it saw whole, in its order, of a connection by the port of the other side. */
async function recordingServer(isHot: boolean) {
  type Entry = { readonly request: IncomingMessage; body: string | undefined }
  const byPort = new Map<number | undefined, Entry[]>()
  const bed = await hotServer({ isHot })
  // The kernel gives ports again.
  bed.server.prependListener('connection', ({ remotePort }: Socket) => void byPort.set(remotePort, []))
  bed.server.prependListener('request', (request: IncomingMessage) => {
    const entry: Entry = { request, body: undefined }
    byPort.get(request.socket.remotePort)?.push(entry)
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      entry.body = Buffer.concat(parts).toString('latin1')
    })
  })
  const seen = (port: number | undefined): readonly Seen[] =>
    (byPort.get(port) ?? [])
      .filter(({ request }) => request.complete)
      .map(({ request: { method, url, headers }, body }) => ({ head: [method, url, { ...headers }], body }))
  return { bed, seen }
}

async function tell(server: Awaited<ReturnType<typeof recordingServer>>, text: string, split: number) {
  const { socket, ended } = call(server.bed.port)
  await once(socket, 'connect')
  const port = socket.localPort
  socket.write(text.slice(0, split), 'latin1')
  await nextTurn()
  socket.end(text.slice(split) + LAST, 'latin1')
  await ended
  return server.seen(port)
}

it('sees the requests that Node’s parser sees, with the same bodies, and no others', async () => {
  const hot = await recordingServer(true)
  const node = await recordingServer(false)
  let withBody = 0
  const one = fc.tuple(damaged, fc.nat(300))
  await fc.assert(
    fc.asyncProperty(fc.array(one, { minLength: 40, maxLength: 40 }), async (runs) => {
      const told = runs.map(([text, split]) => Promise.all([tell(hot, text, split), tell(node, text, split)]))
      for (const [byHot, byNode] of await Promise.all(told)) {
        expect(byHot.map(({ head }) => head)).toEqual(byNode.map(({ head }) => head))
        for (const [i, { body: whole }] of byNode.entries()) {
          if (whole === undefined) continue
          expect(byHot[i]?.body).toBe(whole)
          withBody += 1
        }
      }
    }),
    { numRuns: 40 },
  )
  const hotOnes = hot.bed.asked.filter(({ reader }) => reader === 'hot').length
  expect(hotOnes).toBeGreaterThan(100)
  expect(hot.bed.asked.length - hotOnes).toBeGreaterThan(100)
  expect(withBody).toBeGreaterThan(100)
}, 120_000)
