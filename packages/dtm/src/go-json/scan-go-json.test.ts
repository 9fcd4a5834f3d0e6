import { describe, expect, it } from 'vitest'
import { readRequest } from '../wire/read-request.ts'
import { GoSyntaxError, scanGoJson } from './scan-go-json.ts'

const REFUSED = [
  ['', 'unexpected end of JSON input'],
  ['  ', 'unexpected end of JSON input'],
  ['{"a":1,', 'unexpected end of JSON input'],
  ['"abc', 'unexpected end of JSON input'],
  ['not json', "invalid character 'o' in literal null (expecting 'u')"],
  ['tru', 'unexpected end of JSON input'],
  ['falsy', "invalid character 'y' in literal false (expecting 'e')"],
  ['{} x', "invalid character 'x' after top-level value"],
  ['xyz', "invalid character 'x' looking for beginning of value"],
  ['{a:1}', "invalid character 'a' looking for beginning of object key string"],
  ['{"a":1,}', "invalid character '}' looking for beginning of object key string"],
  ['{"a" 1}', "invalid character '1' after object key"],
  ['{"a":1 "b":2}', `invalid character '"' after object key:value pair`],
  ['[1 2]', "invalid character '2' after array element"],
  ['[1,]', "invalid character ']' looking for beginning of value"],
  ['01', "invalid character '1' after top-level value"],
  ['-x', "invalid character 'x' in numeric literal"],
  ['1.x', "invalid character 'x' after decimal point in numeric literal"],
  ['1ex', "invalid character 'x' in exponent of numeric literal"],
  ['"\\q"', "invalid character 'q' in string escape code"],
  ['"\\u12g4"', "invalid character 'g' in \\u hexadecimal character escape"],
  ['"a\nb"', "invalid character '\\n' in string literal"],
  ["{'a':1}", `invalid character '\\'' looking for beginning of object key string`],
] as const

describe('scanGoJson', () => {
  for (const [text, message] of REFUSED) {
    it(`The JSON scanner refuses ${JSON.stringify(text)} with Go's message`, () => {
      expect(() => scanGoJson(text)).toThrow(new GoSyntaxError(message, message.startsWith('unexpected')))
    })
  }

  it('The JSON scanner keeps numbers as they were written, and equal keys in their order', () => {
    expect(scanGoJson(' {"a":1.0,"A":-0.5e+3 , "a":[null,true,false,{}]} ')).toEqual({
      type: 'object',
      members: [
        { key: 'a', value: { type: 'number', text: '1.0' } },
        { key: 'A', value: { type: 'number', text: '-0.5e+3' } },
        {
          key: 'a',
          value: {
            type: 'array',
            items: [
              { type: 'null' },
              { type: 'bool', value: true },
              { type: 'bool', value: false },
              { type: 'object', members: [] },
            ],
          },
        },
      ],
    })
  })

  it('The JSON scanner reads escapes and surrogate pairs, and puts U+FFFD for half of a pair', () => {
    const text = String.raw`"\"\\\/\b\f\n\r\t\u00e4\ud83d\ude00\ud83d!"`
    expect(scanGoJson(text)).toEqual({ type: 'string', value: '"\\/\b\f\n\r\tä😀\ufffd!' })
  })

  it('The JSON scanner refuses JSON that is nested too deep', () => {
    expect(() => scanGoJson('['.repeat(100_000))).toThrow('exceeded max depth')
  })

  it('S41: The JSON scanner refuses JSON of more than 10,000 values', () => {
    const list = (count: number) => `[${Array.from({ length: count }, () => '{}').join(',')}]`
    expect(scanGoJson(list(9_999)).type).toBe('array')
    expect(() => scanGoJson(list(10_000))).toThrow('more than 10000 values')
  })

  it('A number of very many digits is repeated in part', () => {
    const text = `{"retry_interval":${'1'.repeat(1_000_000)}}`
    expect(() => readRequest(text)).toThrow(/^json: cannot unmarshal number 1{256} into Go struct field /)
  })
})
