import { describe, expect, it } from 'vitest'
import { readHead } from './read-head.ts'

const HOST = 'Host: x\r\n'

describe('the head of a plain request', () => {
  it('gives names in lower case, values without the blanks around them, and the length', () => {
    const lines = `Host: a:80\r\nContent-LENGTH:\t12 \r\nX-A: b  c\t\r\nconnection:Keep-Alive\r\naccept:*\r\n`
    expect(readHead(lines)).toEqual({
      headers: {
        host: 'a:80',
        'content-length': '12',
        'x-a': 'b  c',
        connection: 'Keep-Alive',
        accept: '*',
      },
      bodyBytes: 12,
    })
  })

  it('without a length has no body', () => {
    expect(readHead(HOST)?.bodyBytes).toBe(0)
  })

  for (const [title, lines] of [
    ['no field at all', ''],
    ['no host', 'Accept: *\r\n'],
    ['two hosts', `${HOST}${HOST}`],
    ['a field twice, differently written', `${HOST}X-A: 1\r\nx-a: 1\r\n`],
    ['two lengths', `${HOST}Content-Length: 1\r\nContent-Length: 1\r\n`],
    ['a length and chunks', `${HOST}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n`],
    ['chunks', `${HOST}Transfer-Encoding: chunked\r\n`],
    ['a length with a sign', `${HOST}Content-Length: +1\r\n`],
    ['a length that is a list', `${HOST}Content-Length: 1, 1\r\n`],
    ['a length in hexadecimal', `${HOST}Content-Length: 0x1\r\n`],
    ['a length of eleven digits', `${HOST}Content-Length: 00000000001\r\n`],
    ['a connection that ends', `${HOST}Connection: close\r\n`],
    ['a connection that names a field', `${HOST}Connection: keep-alive, X-A\r\n`],
    ['a connection under its old name', `${HOST}Proxy-Connection: close\r\n`],
    ['more than 100 fields', HOST + Array.from({ length: 100 }, (_, i) => `x-${i}: 1\r\n`).join('')],
    ['a connection that becomes another', `${HOST}Upgrade: websocket\r\n`],
    ['an expectation', `${HOST}Expect: 100-continue\r\n`],
    ['a trailer', `${HOST}Trailer: X-A\r\n`],
    ['what it takes as trailers', `${HOST}TE: trailers\r\n`],
    ['a blank before the colon', `${HOST}X-A : 1\r\n`],
    ['a blank before the name', `${HOST} X-A: 1\r\n`],
    ['a folded field', `${HOST}X-A: 1\r\n 2\r\n`],
    ['an empty field', `${HOST}X-A:\r\n`],
    ['an empty field of blanks', `${HOST}X-A: \t\r\n`],
    ['a field without a name', `${HOST}: 1\r\n`],
    ['a line without a colon', `${HOST}X-A\r\n`],
    ['a line feed alone', `${HOST}X-A: 1\nX-B: 2\r\n`],
    ['a carriage return alone', `${HOST}X-A: 1\rX-B: 2\r\n`],
    ['a NUL', `${HOST}X-A: 1\0\r\n`],
    ['a DEL', `${HOST}X-A: \x7f\r\n`],
    ['a byte above ASCII', `${HOST}X-A: \xe4\r\n`],
    ['a name above ASCII', `${HOST}X-\xe4: 1\r\n`],
    ['no end of the last line', `${HOST}X-A: 1`],
    ['a name that every object has', `${HOST}constructor: 1\r\n`],
    ['the name of a prototype', `${HOST}__proto__: 1\r\n`],
  ] as const) {
    it(`is none with ${title}`, () => {
      expect(readHead(lines)).toBeUndefined()
    })
  }
})
