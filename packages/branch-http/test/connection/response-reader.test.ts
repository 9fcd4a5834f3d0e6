import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Reading, ResponseReader } from '../../src/connection/response-reader.ts'

const LIMITS = { headBytesMax: 512, bodyBytesMax: 64 }

interface Outcome {
  readonly reading: Reading
  readonly statusCode: number | undefined
  readonly body: string
  /** Bytes after the response. */
  readonly left: number
}

/** What a connection would make of these pieces. */
function readPieces(pieces: readonly Buffer[], reader = new ResponseReader(LIMITS)): Outcome {
  let statusCode: number | undefined
  const body: Buffer[] = []
  reader.begin({
    onHead: (head) => {
      statusCode = head.statusCode
    },
    onBody: (bytes) => body.push(Buffer.from(bytes)),
  })
  let left = 0
  for (const piece of pieces) {
    // As a read into a buffer that is longer, and still has what came before.
    const buffer = Buffer.concat([piece, Buffer.from('\r\n\r\n0\r\n\r\n')])
    left += piece.length - (reader.reading === 'more' ? reader.read(buffer, piece.length) : 0)
  }
  return { reading: reader.reading, statusCode, body: Buffer.concat(body).toString('latin1'), left }
}

const read = (text: string) => readPieces([Buffer.from(text, 'latin1')])
const CHUNKED = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'
const long = 'x'.repeat(65)

/** Each with what one read of all of it says. */
const RESPONSES: readonly (readonly [string, string, Partial<Outcome>])[] = [
  ['a length', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok', { reading: 'whole', body: 'ok' }],
  ['a length of 0', 'HTTP/1.1 409 C\r\ncontent-length: 0\r\n\r\n', { reading: 'whole', body: '' }],
  ['no body', 'HTTP/1.1 204 N\r\n\r\n', { reading: 'whole', statusCode: 204 }],
  ['more after it', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nokHTTP', { reading: 'whole', left: 4 }],
  ['half a head', 'HTTP/1.1 200 OK\r\ncontent-le', { reading: 'more', statusCode: undefined }],
  ['half a word', 'HTT', { reading: 'more' }],
  ['half a body', 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nok', { reading: 'more', body: 'ok' }],
  ['until the close', 'HTTP/1.1 200 OK\r\n\r\nok', { reading: 'more', body: 'ok' }],
  ['another protocol', 'SSH-2.0-OpenSSH_9.2\r\n', { reading: 'bad-response' }],
  ['a head like none', 'HTTP/1.1 200 OK\r\nx y\r\n\r\n', { reading: 'bad-response' }],
  [
    'hints before it',
    'HTTP/1.1 103 E\r\n\r\nHTTP/1.1 200 O\r\ncontent-length: 0\r\n\r\n',
    { reading: 'whole' },
  ],
  ['a switch of protocols', 'HTTP/1.1 101 S\r\nupgrade: x\r\n\r\n', { reading: 'bad-response' }],
  ['the last hint', 'HTTP/1.0 103 E\r\n\r\nHTTP/1.1 200 O\r\n\r\n', { reading: 'bad-response' }],
  ['a hint with a body', 'HTTP/1.1 103 E\r\ncontent-length: 1\r\n\r\nx', { reading: 'bad-response' }],
  ['hints for ever', 'HTTP/1.1 102 P\r\n\r\n'.repeat(17), { reading: 'bad-response' }],
  ['a head over the bound', `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(500)}\r\n\r\n`, { reading: 'too-large' }],
  ['a body over the bound', `HTTP/1.1 200 OK\r\ncontent-length: 65\r\n\r\n${long}`, { reading: 'cut' }],
  ['one over it without length', `HTTP/1.1 200 OK\r\n\r\n${long}`, { reading: 'cut', body: 'x'.repeat(64) }],
  ['chunks', `${CHUNKED}2\r\nok\r\n3;a=b\r\n!!!\r\n0\r\n\r\n`, { reading: 'whole', body: 'ok!!!' }],
  [
    'chunks and trailers',
    `${CHUNKED}0A\r\n0123456789\r\n0\r\nx-a: 1\r\n\r\nX`,
    { reading: 'whole', left: 1 },
  ],
  ['no chunk', `${CHUNKED}0\r\n\r\n`, { reading: 'whole', body: '' }],
  ['chunks without their end', `${CHUNKED}2\r\nok\r\n0\r\n`, { reading: 'more', body: 'ok' }],
  ['chunks over the bound', `${CHUNKED}41\r\n${long}\r\n0\r\n\r\n`, { reading: 'cut', body: 'x'.repeat(64) }],
  ['a chunk without a size', `${CHUNKED}\r\nok\r\n`, { reading: 'bad-response' }],
  ['a chunk of another size', `${CHUNKED}zz\r\n`, { reading: 'bad-response' }],
  ['a negative chunk', `${CHUNKED}-2\r\nok`, { reading: 'bad-response' }],
  ['a chunk beyond numbers', `${CHUNKED}${'f'.repeat(14)}\r\n`, { reading: 'bad-response' }],
  ['a chunk longer than it says', `${CHUNKED}2\r\nokay\r\n`, { reading: 'bad-response' }],
  ['a bare line feed after a size', `${CHUNKED}2\nok\r\n`, { reading: 'bad-response' }],
  ['a bare line feed after a chunk', `${CHUNKED}2\r\nok\n`, { reading: 'bad-response' }],
  ['a quoted extension', `${CHUNKED}2;a="b c";d\r\nok\r\n0\r\n\r\n`, { reading: 'whole', body: 'ok' }],
  ['an extension without a name', `${CHUNKED}2;=b\r\nok\r\n0\r\n\r\n`, { reading: 'bad-response' }],
  ['blanks after a size', `${CHUNKED}2 \r\nok\r\n0\r\n\r\n`, { reading: 'bad-response' }],
  ['a line feed in an extension', `${CHUNKED}2;a\nb\r\n`, { reading: 'bad-response' }],
  ['an extension without end', `${CHUNKED}2;${'a'.repeat(512)}`, { reading: 'bad-response' }],
  ['a trailer that is none', `${CHUNKED}0\r\nx y\r\n\r\n`, { reading: 'bad-response' }],
  ['trailers without end', `${CHUNKED}0\r\n${'x-a: 1\r\n'.repeat(100)}`, { reading: 'bad-response' }],
]

describe('a response', () => {
  it.each(RESPONSES)('with %s', (_what, text, outcome) => expect(read(text)).toMatchObject(outcome))

  it('is the same in whatever pieces it comes', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...RESPONSES.map(([, text]) => text)),
        fc.array(fc.nat(700), { maxLength: 8 }),
        (text, cuts) => {
          const bytes = Buffer.from(text, 'latin1')
          const at = [...new Set([0, ...cuts.filter((cut) => cut < bytes.length), bytes.length])].sort(
            (a, b) => a - b,
          )
          const pieces = at.slice(1).map((end, index) => bytes.subarray(at[index], end))
          const { left, ...whole } = read(text)
          const { left: leftOfPieces, ...inPieces } = readPieces(pieces)
          expect(inPieces).toEqual(whole)
          // What has failed reads no more, wherever it was told that.
          if (whole.reading === 'whole') expect(leftOfPieces).toBe(left)
        },
      ),
      { numRuns: 2_000 },
    )
  })

  it('is the same byte by byte', () => {
    for (const [, text, outcome] of RESPONSES) {
      const bytes = Buffer.from(text, 'latin1')
      expect(readPieces([...bytes].map((byte) => Buffer.from([byte])))).toMatchObject(outcome)
    }
  })

  it('is read as if none had come before, the same one or another', () => {
    for (const [, before] of RESPONSES) {
      for (const [, text] of RESPONSES) {
        const reader = new ResponseReader(LIMITS)
        readPieces([Buffer.from(before, 'latin1')], reader)
        expect(readPieces([Buffer.from(text, 'latin1')], reader)).toEqual(read(text))
      }
    }
  })

  it('leaves nothing to the next one', () => {
    const reader = new ResponseReader(LIMITS)
    const seen: unknown[] = []
    for (const [, text] of RESPONSES) {
      const bytes = Buffer.from(text, 'latin1')
      reader.begin({ onHead: () => undefined, onBody: () => undefined })
      reader.read(bytes, bytes.length)
      const good = Buffer.from('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok')
      reader.begin({
        onHead: ({ statusCode }) => seen.push(statusCode),
        onBody: (body) => seen.push(body.toString()),
      })
      reader.read(good, good.length)
      expect([text, seen.splice(0), reader.reading]).toEqual([text, [200, 'ok'], 'whole'])
    }
  })
})
