import { describe, expect, it } from 'vitest'
import { parseHead, type ResponseHead } from '../../src/connection/response-head.ts'

const head = (...lines: string[]) => parseHead(lines.map((line) => `${line}\r\n`).join(''))
const OK = 'HTTP/1.1 200 OK'

describe('a head', () => {
  it('has what counts, whatever the case of its names', () => {
    expect(
      head(
        'HTTP/1.1 503 Service Unavailable',
        'Content-Length: 12',
        'RETRY-AFTER:\t7 ',
        'Content-encoding: gzip',
        'Keep-Alive: timeout=5, max=100',
        'Date: Sun, 22 Nov 2026 15:00:00 GMT',
      ),
    ).toEqual({
      statusCode: 503,
      body: 'length',
      bodyBytes: 12,
      isLast: false,
      keepAliveMs: 5000,
      retryAfter: '7',
      coding: 'gzip',
    })
  })

  it.each(['HTTP/1.1 200', 'HTTP/1.1 200 ', 'HTTP/1.1 200 \xfcber', 'HTTP/1.1 200 a\tb'])(
    'may have any reason or none: %j',
    (line) => expect(head(line)?.statusCode).toBe(200),
  )

  it('keeps the first wait, and every coding that is one', () => {
    expect(head(OK, 'retry-after: 1', 'retry-after: 2')?.retryAfter).toBe('1')
    expect(head(OK, 'content-encoding: identity')?.coding).toBeUndefined()
    expect(head(OK, 'content-encoding: BR', 'content-encoding: identity')?.coding).toBe('br')
    expect(head(OK, 'content-encoding: gzip', 'content-encoding: br')?.coding).toBe('gzip, br')
  })
})

describe('the body', () => {
  const bodies: readonly (readonly [string[], ResponseHead['body'], boolean])[] = [
    [[OK, 'content-length: 3'], 'length', false],
    [[OK, 'content-length: 0'], 'length', false],
    [[OK, 'transfer-encoding: chunked'], 'chunked', false],
    [[OK, 'Transfer-Encoding: CHUNKED'], 'chunked', false],
    [[OK], 'until-close', true],
    [[OK, 'content-length: 3', 'connection: close'], 'length', true],
    [[OK, 'content-length: 3', 'connection: x, Close , y'], 'length', true],
    [[OK, 'content-length: 3', 'connection: closed'], 'length', false],
    [['HTTP/1.0 200 OK', 'content-length: 3'], 'length', true],
    [['HTTP/1.0 200 OK', 'content-length: 3', 'connection: keep-alive'], 'length', false],
    [['HTTP/1.1 204 No Content'], 'none', false],
    [['HTTP/1.1 304 Not Modified'], 'none', false],
    [['HTTP/1.1 204 No Content', 'content-length: 0'], 'none', false],
    // It may send them all the same, and they would be read as the next response.
    [['HTTP/1.1 204 No Content', 'content-length: 3'], 'none', true],
    [['HTTP/1.1 304 Not Modified', 'transfer-encoding: chunked'], 'none', true],
    [['HTTP/1.1 103 Early Hints', 'link: </x>'], 'none', false],
  ]
  it.each(bodies)('of %j: %s', (lines, body, isLast) =>
    expect(head(...lines)).toMatchObject({ body, isLast }),
  )
})

describe('no head', () => {
  it.each([
    ['another protocol', ['SSH-2.0-OpenSSH_9.2']],
    ['another version', ['HTTP/2 200']],
    ['one digit more in the version', ['HTTP/1.10 200 OK']],
    ['a status of two digits', ['HTTP/1.1 20 OK']],
    ['a status of four digits', ['HTTP/1.1 2000 OK']],
    ['a status below 100', ['HTTP/1.1 099 OK']],
    ['two blanks before the status', ['HTTP/1.1  200 OK']],
    ['a blank line first', ['', OK]],
    ['a field without a colon', [OK, 'content-length 3']],
    ['a field without a name', [OK, ': 3']],
    ['a blank before the colon', [OK, 'content-length : 3']],
    ['a blank before the name', [OK, ' content-length: 3']],
    ['a folded field', [OK, 'content-length:', ' 3']],
    ['a NUL in a value', [OK, 'x-a: a\0b']],
    ['a bare line feed in a value', [OK, 'x-a: a\ncontent-length: 3']],
    ['a bare carriage return in a value', [OK, 'x-a: a\rb']],
    ['two lengths', [OK, 'content-length: 3', 'content-length: 4']],
    ['the same length twice', [OK, 'content-length: 3', 'content-length: 3']],
    ['a list of lengths', [OK, 'content-length: 3, 3']],
    ['a negative length', [OK, 'content-length: -3']],
    ['a signed length', [OK, 'content-length: +3']],
    ['a length in hexadecimal', [OK, 'content-length: 0x3']],
    ['a length with a blank that is none', [OK, 'content-length: 3\xa0']],
    ['chunks with a blank that is none', [OK, 'transfer-encoding:\xa0chunked']],
    ['no length in its field', [OK, 'content-length:']],
    ['a length beyond exact numbers', [OK, 'content-length: 1000000000000000']],
    ['a length and chunks', [OK, 'content-length: 3', 'transfer-encoding: chunked']],
    ['chunks and a length', [OK, 'transfer-encoding: chunked', 'content-length: 3']],
    ['chunks twice', [OK, 'transfer-encoding: chunked', 'transfer-encoding: chunked']],
    ['a coding that nobody asked for', [OK, 'transfer-encoding: gzip, chunked']],
    ['a coding that is none', [OK, 'transfer-encoding: xchunked']],
    ['chunks of HTTP/1.0', ['HTTP/1.0 200 OK', 'transfer-encoding: chunked']],
  ])('is one with %s', (_what, lines) => expect(head(...lines)).toBeUndefined())
})
