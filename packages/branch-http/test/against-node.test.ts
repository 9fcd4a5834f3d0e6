import { type IncomingMessage, request } from 'node:http'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { readExcerpt } from '../src/excerpt.ts'
import { buildCall, serveBytes } from './hostile-server.ts'
import { testCaller } from './test-caller.ts'

interface Seen {
  /** It is undefined if the response did not come whole. */
  readonly statusCode: number | undefined
  /** People are shown this text. */
  readonly excerpt: string | undefined
}

const NOT_WHOLE: Seen = { statusCode: undefined, excerpt: undefined }

/** Asks with Node's own client, which has another parser. Bytes after the response are an error too, but a later one. */
function askByNode(port: number): Promise<Seen> {
  return new Promise((resolve) => {
    const body: Buffer[] = []
    let answer: IncomingMessage | undefined
    const asked = request({ host: '127.0.0.1', port, method: 'POST', agent: false }, (response) => {
      answer = response
      response.on('data', (chunk: Buffer) => body.push(chunk))
      response.on('error', () => undefined)
    })
    asked.on('error', () => undefined)
    asked.on('close', () => {
      const { complete, statusCode } = answer ?? { complete: false, statusCode: undefined }
      resolve(complete ? { statusCode, excerpt: readExcerpt(Buffer.concat(body)) } : NOT_WHOLE)
    })
    asked.end('{}')
  })
}

const header = fc.constantFrom(
  'content-length: 5',
  'Content-Length:  5 ',
  'content-length: 4',
  'content-length: 6',
  'transfer-encoding: chunked',
  'transfer-encoding: gzip, chunked',
  'connection: close',
  'Connection: keep-alive',
  'keep-alive: timeout=5',
  'retry-after: 1',
  'x-a:',
  'x-b: \xfc',
  'date: Sun, 22 Nov 2026 15:00:00 GMT',
)
const body = fc.constantFrom(
  '',
  'hello',
  '5\r\nhello\r\n0\r\n\r\n',
  '2;a=b\r\nhe\r\n3\r\nllo\r\n0\r\nx-t: 1\r\n\r\n',
)
const response = fc
  .record({
    status: fc.constantFrom('HTTP/1.1 200 OK', 'HTTP/1.1 409 Conflict', 'HTTP/1.1 500 x', 'HTTP/1.0 200 OK'),
    hint: fc.constantFrom('', '', '', 'HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n'),
    headers: fc.uniqueArray(header, { maxLength: 4 }),
    body,
  })
  .map(({ status, hint, headers, body }) => `${hint}${[status, ...headers].join('\r\n')}\r\n\r\n${body}`)
/** Changes one place of the response: a byte is left out, doubled or replaced. */
const damaged = fc
  .tuple(
    response,
    fc.nat(400),
    fc.constantFrom('', ' ', '\r', '\n', '\0', ':', ',', '1', '0', 'x', '\xa0', 'same'),
  )
  .map(([text, place, insert]) => {
    const at = place % text.length
    return text.slice(0, at) + (insert === 'same' ? text.charAt(at).repeat(2) : insert) + text.slice(at + 1)
  })

it("The caller accepts no response that Node's own parser refuses, and reads the same status and text", async () => {
  let whole = 0
  let stricter = 0
  let bytes = Buffer.alloc(0)
  const server = await serveBytes((socket) => socket.end(bytes))
  const caller = testCaller()
  await fc.assert(
    fc.asyncProperty(fc.oneof(response, damaged), async (text) => {
      bytes = Buffer.from(text, 'latin1')
      const byNode = await askByNode(server.port)
      const { error, statusCode, excerpt } = await caller.call(buildCall(server.url))
      if (error === undefined) {
        whole++
        expect({ statusCode, excerpt }).toEqual(byNode)
      } else if (byNode.statusCode !== undefined) {
        stricter++
      }
    }),
    { numRuns: 2_000, seed: 20_261_122 },
  )
  // The comparison would be worth nothing if every response were accepted, or every one refused.
  expect(whole).toBeGreaterThan(500)
  expect(stricter).toBeLessThan(whole / 4)
})
