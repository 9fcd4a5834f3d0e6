import { describe, expect, it } from 'vitest'
import { AnsweredError } from '../wire/answer.ts'
import { readBranchHeaders } from './branch-headers.ts'

const DENIED = [
  ...['Host', 'Content-Length', 'Transfer-Encoding', 'Connection', 'Keep-Alive', 'Upgrade', 'TE', 'Trailer'],
  ...['Expect', 'Cookie', 'Proxy-Authorization', 'Proxy-Connection', 'Counterstep-Attempt', 'counterstep-x'],
  ...['Signature', 'signature-input', 'SIGNATURE-KEY', 'Content-Digest', 'content-encoding'],
]
const NO_HEADERS: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
  ['a name with a space', { 'a b': 'c' }],
  ['an empty name', { '': 'c' }],
  ['a name with a colon', { 'a:': 'c' }],
  ['a name with a line break', { 'a\r\nb': 'c' }],
  ['a name that is not ASCII', { ä: 'c' }],
  ['a value of two lines', { a: 'b\r\nc: d' }],
  ['a value with a line feed', { a: 'b\nc' }],
  ['a value with a nul', { a: '\u0000' }],
  ['a value with a delete', { a: 'b\u007f' }],
  ['a line break among others', { a: 'ü€\r\nc: d' }],
  ['a name twice, in two cases', { 'X-A': '1', 'x-a': '2' }],
  ['a content type twice', { 'Content-Type': 'a/b', 'content-type': 'c/d' }],
]

const readHttp = (given: Readonly<Record<string, string>>) => readBranchHeaders(given, 'http')

describe('S9: the headers of branches', () => {
  it.each(DENIED)('Branch headers are refused when one of them is %s', (name) => {
    expect(() => readHttp({ [name]: '1' })).toThrow(AnsweredError)
  })

  it.each(NO_HEADERS)('Branch headers are refused with %s', (_, headers) => {
    expect(() => readHttp(headers)).toThrow(AnsweredError)
  })

  it.each([
    ['Müller', 'MÃ¼ller'],
    ['€ 5', 'â\u0082¬ 5'],
    ['日本', Buffer.from('日本').toString('latin1')],
    ['😀', Buffer.from('😀').toString('latin1')],
    // If each character were cut to one byte, these would be line breaks and a NUL.
    ['\u010a\u010d\u0100', 'Ä\u008aÄ\u008dÄ\u0080'],
    ['\u2028\u0085', 'â\u0080¨Â\u0085'],
    ['\ud800', 'ï¿½'],
  ])('Header values are sent as bytes of UTF-8: %j', (value, bytes) => {
    const { headers, contentType } = readHttp({ a: value, 'content-type': value })
    expect([headers.a, headers.accept, contentType]).toEqual([bytes, bytes, bytes])
    expect(bytes).not.toMatch(/[\r\n\0]/)
  })

  it('Header values count by their bytes', () => {
    expect(() => readHttp({ a: '日'.repeat(2_700) })).not.toThrow()
    expect(() => readHttp({ a: '日'.repeat(2_740) })).toThrow(AnsweredError)
  })

  it('Headers have names in lower case, which never reach a prototype', () => {
    const { headers } = readHttp(JSON.parse('{"X-A":"1","__proto__":"2"}'))
    expect(Object.entries(headers)).toEqual([
      ['accept', 'application/json'],
      ['x-a', '1'],
      ['__proto__', '2'],
    ])
  })

  it('Branch headers are at most 20 together with the one that is added', () => {
    const headers = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`h${n}`, '']))
    expect(Object.keys(readHttp(headers(19)).headers)).toHaveLength(20)
    expect(() => readHttp(headers(20))).toThrow(AnsweredError)
  })

  it('Branch headers are at most 8 KiB, and a content type counts as often as it is sent', () => {
    const added = 'accept'.length + 'content-type'.length + 2 * 'application/json'.length
    const room = 8_192 - added - 1
    expect(readHttp({ a: 'v'.repeat(room) }).headers.a).toHaveLength(room)
    expect(() => readHttp({ a: 'v'.repeat(room + 1) })).toThrow(AnsweredError)
    expect(() => readHttp({ 'content-type': 'v'.repeat(4_100) })).toThrow(AnsweredError)
  })

  it('Branch headers that a call over gRPC cannot carry are refused where there may be one', () => {
    for (const given of [{ a: 'ä' }, { a: 'b\tc' }, { 'x!y': '1' }] as Record<string, string>[]) {
      expect(() => readHttp(given)).not.toThrow()
      expect(() => readBranchHeaders(given, 'grpc')).toThrow(AnsweredError)
    }
    expect(() => readBranchHeaders({ 'x-tenant': 'a b', accept: 'ä' }, 'grpc')).not.toThrow()
  })
})
